/** JSON in pieces that can be coloured: names, texts, numbers, words, and the marks between. Makes no HTML. */

export type JsonRun = { text: string; kind: "name" | "string" | "number" | "keyword" | null };

const TOKENS = /("(?:[^"\\\n]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** The runs of a text; whatever is no JSON is plain, so nothing is lost. */
export function jsonRuns(text: string): JsonRun[] {
  const runs: JsonRun[] = [];
  let from = 0;
  const add = (piece: string, kind: JsonRun["kind"]) => {
    if (piece !== "") runs.push({ text: piece, kind });
  };
  for (const match of text.matchAll(TOKENS)) {
    add(text.slice(from, match.index), null);
    const [all, string, colon, number] = match;
    if (string !== undefined) {
      add(string, colon === undefined ? "string" : "name");
      add(colon ?? "", null);
    } else add(all, number === undefined ? "keyword" : "number");
    from = match.index + all.length;
  }
  add(text.slice(from), null);
  return runs;
}

/** The first lines of a text, and how many there are. */
export function firstLines(text: string, lines: number): { text: string; total: number } {
  let [at, total] = [0, 1];
  let end = text.length;
  for (;;) {
    at = text.indexOf("\n", at);
    if (at < 0) break;
    if (total === lines) end = at;
    total += 1;
    at += 1;
  }
  return { text: text.slice(0, end), total };
}
