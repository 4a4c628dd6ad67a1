/** Words in a row, each once with how often it came: `PipeWrap (2), Timeout`. */
export function countWords(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => count === 1 ? word : `${word} (${count})`).join(", ");
}
