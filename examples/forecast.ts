import { serve } from "@mcp/stdio";

await serve({
  info: { name: "forecast", version: "1.0.0" },
  tools: {
    "get-forecast": {
      description: "Forecast for a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      call: ({ city }) => `Sunny in ${city}.`,
    },
  },
  resources: {
    "forecast://cities": { mimeType: "text/plain", read: () => "Bergen\nOslo" },
  },
  prompts: {
    "plan-a-day": {
      arguments: { city: { required: true } },
      get: ({ city }) => `Look up the forecast for ${city} and plan a day there.`,
    },
  },
});
