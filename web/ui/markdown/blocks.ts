/**
 * Cuts Markdown that is still arriving into its top-level blocks: those that are finished never change again, only the
 * last one is open. What is open is bounded, whatever comes, so a frame's work is bounded. Draws nothing.
 */
import type { Token } from "markdown-it";
import { markdown } from "./parse";

/** An open block beyond this is cut where it harms least. */
export const MAX_OPEN_CHARS = 8 * 1024;
/** Code reads badly when cut, and costs less. */
export const MAX_OPEN_CODE_CHARS = 64 * 1024;

export type Block = {
  source: string;
  /** The next block goes on where this one was cut. */
  cut: boolean;
};

/** The last block while it may still change. */
export type OpenBlock = {
  source: string;
  /** Set for a code block whose end has not come: its language and its lines so far. */
  code: { info: string; text: string } | null;
};

type Top = { line: number; type: string; info: string; markup: string };

export class Blocks {
  readonly closed: Block[] = [];
  private tail = "";
  private top: Top | null = null;
  /** The last block is code, and its end has not come; how far its end was looked for. */
  private inCode = false;
  private scanned = 0;
  private heldReturn = false;

  push(piece: string): void {
    // Line ends are one character; a pair may come in two pieces.
    let text = this.heldReturn ? `\r${piece}` : piece;
    this.heldReturn = text.endsWith("\r");
    if (this.heldReturn) text = text.slice(0, -1);
    this.tail += text.replace(/\r\n?/g, "\n");
    this.settle();
    while (this.tail.length > this.bound()) {
      this.cut();
      this.settle();
    }
  }

  open(): OpenBlock | null {
    if (this.tail.trim() === "") return null;
    if (!this.inCode) return { source: this.tail, code: null };
    const head = this.tail.indexOf("\n") + 1;
    const line = this.tail.lastIndexOf("\n") + 1;
    // What could become the closing mark is not shown as code for a moment.
    const end = /^ {0,3}[`~]+\s*$/.test(this.tail.slice(line)) ? line : this.tail.length;
    return {
      source: this.tail,
      code: { info: this.top?.info ?? "", text: this.tail.slice(head, Math.max(head, end)) },
    };
  }

  private bound(): number {
    return this.inCode ? MAX_OPEN_CODE_CHARS : MAX_OPEN_CHARS;
  }

  /** Everything before the last top-level block is finished. A line that has not ended decides nothing. */
  private settle(): void {
    // Inside code only its end matters, so only new lines are looked at.
    if (this.inCode && !this.findCodeEnd()) return;
    const whole = this.tail.slice(0, this.tail.lastIndexOf("\n") + 1);
    const tops = topLevel(whole);
    const lines = lineStarts(whole);
    this.top = tops.at(-1) ?? null;
    if (!this.top) return;
    for (const [at, top] of tops.slice(0, -1).entries()) {
      const from = at === 0 ? 0 : (lines[top.line] ?? 0);
      this.close(this.tail.slice(from, lines[tops[at + 1]?.line ?? 0] ?? whole.length), false);
    }
    const start = tops.length > 1 ? (lines[this.top.line] ?? 0) : 0;
    this.tail = this.tail.slice(start);
    if (this.top.type !== "fence") return;
    this.inCode = true;
    this.scanned = (lines[this.top.line + 1] ?? whole.length) - start;
    if (this.findCodeEnd()) this.settle();
  }

  /** Looks for the closing mark in lines that came since; code that has it is finished. */
  private findCodeEnd(): boolean {
    const markup = this.top?.markup ?? "```";
    for (;;) {
      const end = this.tail.indexOf("\n", this.scanned);
      if (end < 0) return false;
      const line = this.tail.slice(this.scanned, end);
      this.scanned = end + 1;
      if (!closes(line, markup)) continue;
      this.close(this.tail.slice(0, this.scanned), false);
      this.tail = this.tail.slice(this.scanned);
      this.inCode = false;
      this.top = null;
      return true;
    }
  }

  /** Blank lines around a block belong to none. */
  private close(source: string, cut: boolean): void {
    this.closed.push({ source: source.replace(/^(?:[ \t]*\n)+/, "").replace(/\n\s*$/, "\n"), cut });
  }

  /** The open block is too long: its first part becomes a block of its own. */
  private cut(): void {
    const bound = this.bound();
    if (this.inCode) {
      const head = this.tail.slice(0, this.tail.indexOf("\n") + 1) || "```\n";
      const mark = /(`{3,}|~{3,})/.exec(head)?.[0] ?? "```";
      const at = cutPlace(this.tail, Math.max(bound, head.length + 1), ["\n"]);
      this.close(`${this.tail.slice(0, at).replace(/\n$/, "")}\n${mark}\n`, true);
      this.tail = head + this.tail.slice(at);
      this.scanned = head.length;
    } else if (this.top?.type === "table_open") {
      const at = cutPlace(this.tail, bound, ["\n"]);
      const head = this.tail.split("\n", 2).join("\n") + "\n";
      this.close(this.tail.slice(0, at), true);
      // Without its head the rest would be no table; a head that is itself too long is not repeated.
      this.tail = (head.length < bound / 4 ? head : "") + this.tail.slice(at);
    } else {
      const at = cutPlace(this.tail, bound, ["\n\n", "\n- ", "\n* ", "\n", " "]);
      this.close(this.tail.slice(0, at), true);
      this.tail = this.tail.slice(at);
    }
  }
}

/** The last good place before `bound`, but not in the first half; else `bound`, between two characters. */
function cutPlace(text: string, bound: number, marks: string[]): number {
  for (const mark of marks) {
    const at = text.lastIndexOf(mark, bound - 1);
    if (at >= bound / 2) return at + (mark === " " ? 1 : mark === "\n\n" ? 2 : 1);
  }
  const code = text.charCodeAt(bound);
  return code >= 0xdc00 && code <= 0xdfff ? bound - 1 : bound;
}

function topLevel(source: string): Top[] {
  const tokens: Token[] = [];
  markdown.block.parse(source, markdown, {}, tokens);
  return tokens.flatMap((token) =>
    token.level === 0 && token.nesting >= 0 && token.map
      ? [
          {
            line: token.map[0],
            type: token.type,
            info: wordOf(token.info),
            markup: token.markup,
          },
        ]
      : [],
  );
}

function wordOf(info: string): string {
  return info.trim().split(/\s+/)[0] ?? "";
}

/** Whether a line ends code that began with `markup`. */
function closes(line: string, markup: string): boolean {
  const mark = line.trim();
  const indented = line.length - line.trimStart().length;
  return indented <= 3 && mark.length >= markup.length && mark === markup.charAt(0).repeat(mark.length);
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
