// Notes in a SQLite file: tools that add and find them, a resource for each, and listeners that are told. Run it with
//
//     deno run --allow-read=notes.db --allow-write=notes.db examples/notes_server.ts notes.db
//
// `node:sqlite` is there on Deno, on Bun from 1.4 and on Node from 22.13; Node 20 has none.
import { ProtocolError } from "@mcp/stdio/errors";
import { ErrorCode } from "@mcp/stdio/messages";
import { serve, Server } from "@mcp/stdio/server";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(process.argv[2] ?? "notes.db");
database.exec("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
const insert = database.prepare("INSERT INTO notes (text) VALUES (?)");
const search = database.prepare(
  "SELECT id, text FROM notes WHERE text LIKE '%' || ? || '%' ORDER BY id LIMIT 20",
);
const select = database.prepare("SELECT text FROM notes WHERE id = ?");

const server: Server = new Server({
  info: { name: "notes", version: "1.0.0" },
  instructions: "Look for a note before you add another one.",
  tools: {
    "add-note": {
      description: "Keeps a note",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string", minLength: 1 } },
        required: ["text"],
      },
      call({ text }) {
        const { lastInsertRowid: id } = insert.run(String(text));
        server.publish("notifications/resources/list_changed");
        return { type: "resource_link", uri: `note://${id}`, name: `note ${id}` };
      },
    },
    "find-notes": {
      description: "Finds notes that hold a text",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      outputSchema: {
        type: "object",
        properties: { notes: { type: "array", items: { type: "object" } } },
        required: ["notes"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      call: ({ text }) => ({ notes: search.all(String(text)) }),
    },
  },
  resources: {
    "note://{id}": {
      name: "note",
      description: "One note",
      mimeType: "text/plain",
      read({ variables }) {
        const note = select.get(Number(variables.id));
        if (note === undefined) {
          throw new ProtocolError(ErrorCode.invalidParams, `There is no note ${variables.id}`);
        }
        return String(note.text);
      },
    },
  },
});

await serve(server, { onClose: () => database.close() });
