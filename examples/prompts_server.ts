// Prompts: text that a user picks from a menu. One has a required argument that is completed, one has several messages.
import { serve } from "@mcp/stdio";

const LANGUAGES = ["German", "Greek", "Norwegian", "Portuguese"];

await serve({
  info: { name: "prompts", version: "1.0.0" },
  prompts: {
    "translate": {
      title: "Translate a text",
      description: "Translates a text and keeps its tone",
      arguments: {
        language: {
          description: "The language to translate into",
          required: true,
          complete: (typed) => LANGUAGES.filter((name) => name.toLowerCase().startsWith(typed.toLowerCase())),
        },
        text: { description: "The text", required: true },
      },
      get: ({ language, text }) => `Translate into ${language}, and keep the tone:\n\n${text}`,
    },
    "rehearse": {
      title: "Rehearse a talk",
      arguments: { topic: { required: true } },
      get: ({ topic }) => [
        {
          role: "user",
          content: { type: "text", text: `I give a talk about ${topic}. Ask me hard questions.` },
        },
        {
          role: "assistant",
          content: { type: "text", text: `What is the one thing about ${topic} to remember?` },
        },
      ],
    },
  },
});
