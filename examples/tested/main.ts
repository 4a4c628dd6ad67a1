import { serve } from "@mcp/stdio";
import { options } from "./forecast.ts";

await serve(options);
