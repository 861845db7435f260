/**
 * What a terminal would show of a command's output: its lines, in runs of one look each. Knows sixteen colours and a few
 * weights; everything else that is addressed to a terminal is left out. Draws nothing.
 */

/** `look` is a list of class names; empty for plain text. */
export type TerminalRun = { text: string; look: string };

type Look = { bold: boolean; dim: boolean; italic: boolean; underline: boolean; colour: number | null };

const PLAIN: Look = { bold: false, dim: false, italic: false, underline: false, colour: null };

/** One thing that is not text: a sequence for the terminal, a return, a backspace, a bell. */
const SIGNS = new RegExp(
  [
    // A control sequence, whole or broken off by the end.
    "(?:\\u001b\\[|\\u009b)([0-?]*)[ -/]*([@-~]|$)",
    // A string for the terminal: titles, links, pictures.
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c\\n]*(?:\\u0007|\\u001b\\\\|\\u009c|$)?",
    "\\u001b[ -/]*[0-~]?",
    "[\\r\\u0008\\u0007\\n]",
  ].join("|"),
  "g",
);

/** The lines of an output. A line that was written over shows what was written last. */
export function terminalLines(text: string): TerminalRun[][] {
  const lines: TerminalRun[][] = [];
  let line: TerminalRun[] = [];
  let look = PLAIN;
  let returned = false;
  const write = (piece: string) => {
    if (piece === "") return;
    // Progress is written over itself.
    if (returned) line = [];
    returned = false;
    const words = lookWords(look);
    const last = line.at(-1);
    if (last && last.look === words) last.text += piece;
    else line.push({ text: piece, look: words });
  };
  let from = 0;
  for (const match of text.matchAll(SIGNS)) {
    write(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[0] === "\n") {
      lines.push(line);
      line = [];
      returned = false;
    } else if (match[0] === "\r") returned = line.length > 0;
    else if (match[0] === "\b") back(line);
    else if (match[2] === "m") look = lookAfter(look, match[1] ?? "");
  }
  write(text.slice(from));
  if (line.length > 0) lines.push(line);
  return lines;
}

function back(line: TerminalRun[]): void {
  const last = line.at(-1);
  if (!last) return;
  last.text = [...last.text].slice(0, -1).join("");
  if (last.text === "") line.pop();
}

function lookAfter(look: Look, numbers: string): Look {
  const codes = numbers.split(/[;:]/).map((number) => (number === "" ? 0 : Number(number)));
  let next = { ...look };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 82;
    else if (code === 39) next.colour = null;
    else if (code === 38 || code === 48) {
      // One of many colours: those that we have are shown, the others are plain.
      const colour = codes[at + 1] === 5 ? (codes[at + 2] ?? 16) : 16;
      if (code === 38) next.colour = colour < 16 ? colour : null;
      at += codes[at + 1] === 5 ? 2 : 4;
    }
  }
  return next;
}

function lookWords(look: Look): string {
  const words: string[] = [];
  for (const name of ["bold", "dim", "italic", "underline"] as const) if (look[name]) words.push(name);
  if (look.colour !== null) words.push(`c${String(look.colour)}`);
  return words.join(" ");
}
