// A whole MCP server in one file: `deno run examples/weather_server.ts`, or `bun examples/weather_server.ts`.
import { serve } from "@mcp/stdio/server";

const FORECASTS: { [city: string]: string } = { Bangkok: "sunny, 34 °C", Bergen: "rain, 9 °C" };

await serve({
  info: { name: "weather", version: "1.0.0" },
  instructions: "Ask for the forecast of one city at a time.",
  tools: {
    "get-forecast": {
      description: "Forecast for a city",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      call: ({ city }) => `${city}: ${FORECASTS[String(city)] ?? "no forecast"}`,
    },
    "measure": {
      description: "Measures for a while and tells how far it is",
      inputSchema: { type: "object", properties: { steps: { type: "integer", minimum: 1 } } },
      async call({ steps = 3 }, { progress, signal }) {
        for (let step = 1; step <= Number(steps); step++) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          signal.throwIfAborted();
          progress(step, Number(steps), `measurement ${step}`);
        }
        return `${steps} measurements taken`;
      },
    },
    "crash": {
      description: "Ends the process in the middle of the call, as a fault outside of JavaScript would",
      async call() {
        // Imported where it is needed: at the top it would take Deno a third of a start.
        const { default: process } = await import("node:process");
        process.stderr.write("the sensor is on fire\n");
        process.exit(70);
      },
    },
  },
});
