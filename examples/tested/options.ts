import type { ServerOptions } from "@mcp/stdio";

export const options: ServerOptions = {
  info: { name: "forecast", version: "1.0.0" },
  tools: {
    "get-forecast": {
      description: "Forecast for a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      call: ({ city }) => `Sunny in ${city}.`,
    },
  },
};
