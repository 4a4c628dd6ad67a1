import { serve } from "@mcp/stdio";
import { options } from "./options.ts";

await serve(options);
