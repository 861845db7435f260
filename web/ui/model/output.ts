/** What a command writes, as far as it is kept: the end of it, and how much was let go. Knows no DOM. */

/** Characters that are kept; the log has more. */
export const MAX_OUTPUT_CHARS = 1024 * 1024;

export type Output = { text: string; dropped: number };

export function newOutput(): Output {
  return { text: "", dropped: 0 };
}

/** Adds a piece. The beginning gives way in large steps, so that a long output costs no more than its length. */
export function addOutput(output: Output, piece: string): void {
  output.text += piece;
  if (output.text.length <= 2 * MAX_OUTPUT_CHARS) return;
  const from = lineAfter(output.text, output.text.length - MAX_OUTPUT_CHARS);
  output.dropped += from;
  output.text = output.text.slice(from);
}

/** The end of a text: at most so many lines and characters, and how many characters stand before it. */
export function tailOf(text: string, maxLines: number, maxChars: number): { text: string; before: number } {
  // The line end that ends the text ends no further line.
  let end = text.endsWith("\n") ? text.length - 1 : text.length;
  let from = 0;
  for (let lines = 0; lines < maxLines; lines += 1) {
    end = end <= 0 ? -1 : text.lastIndexOf("\n", end - 1);
    from = end + 1;
    if (end < 0) break;
  }
  if (text.length - from > maxChars) from = lineAfter(text, text.length - maxChars);
  return { text: text.slice(from), before: from };
}

/** The beginning of the next line, if it is near; else the place itself, between two characters. */
function lineAfter(text: string, at: number): number {
  const line = text.indexOf("\n", at);
  if (line >= 0 && line - at < 4_096) return line + 1;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
