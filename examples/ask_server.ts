// A tool that asks its user: a form, then the answer. It works with clients of both eras, and without an answer.
import { acceptedContent, inputRequired, serve } from "@mcp/stdio/server";

await serve({
  info: { name: "tables", version: "1.0.0" },
  tools: {
    //#region ask
    "book-table": {
      description: "Books a table at a restaurant",
      inputSchema: {
        type: "object",
        properties: { restaurant: { type: "string" } },
        required: ["restaurant"],
      },
      call({ restaurant }, context) {
        const answer = acceptedContent(context, "table");
        if (answer !== undefined) return `A table for ${answer.people} at ${restaurant} is booked.`;
        if (context.inputResponses !== undefined) return "Nothing is booked: the user did not agree.";
        if (context.clientCapabilities.elicitation === undefined) {
          return "Nothing is booked: ask for the number first.";
        }
        const table = inputRequired.elicit({
          message: `Book a table at ${restaurant}?`,
          requestedSchema: {
            type: "object",
            properties: { people: { type: "integer", title: "How many people", minimum: 1, maximum: 8 } },
            required: ["people"],
          },
        });
        return inputRequired({ inputRequests: { table } });
      },
    },
    //#endregion
  },
});
