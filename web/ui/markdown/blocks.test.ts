import { describe, expect, it } from "vitest";
import { Blocks, MAX_OPEN_CHARS, MAX_OPEN_CODE_CHARS } from "./blocks";
import { toHtml } from "./parse";

const SAMPLE = `# Title

A paragraph with *words* and
a second line.

1. one
2. two

   still two

3. three

- a
- b

\`\`\`rust
fn main() {

    let x = 1;
}
\`\`\`

| a | b |
| --- | --- |
| 1 | 2 |

> quoted
> more

Setext
------

    indented code

last words`;

function cut(text: string, size: number): Blocks {
  const blocks = new Blocks();
  for (let at = 0; at < text.length; at += size) blocks.push(text.slice(at, at + size));
  return blocks;
}

function html(blocks: Blocks): string {
  return [...blocks.closed, blocks.open() ?? { source: "" }].map(({ source }) => toHtml(source)).join("");
}

describe("text that arrives in pieces", () => {
  it.each([1, 2, 3, 7, 50, 10_000])("is cut into the same blocks, %i characters at a time", (size) => {
    const whole = cut(SAMPLE, SAMPLE.length);
    expect(cut(SAMPLE, size).closed).toEqual(whole.closed);
  });

  it("is drawn as the whole would be", () => {
    expect(html(cut(SAMPLE, 3))).toBe(toHtml(SAMPLE));
  });

  it("loses no character but blank lines", () => {
    const blocks = cut(SAMPLE, 5);
    const kept = [...blocks.closed, blocks.open()].map((block) => block?.source).join("");
    expect(kept.replace(/\n\s*\n/g, "\n")).toBe(SAMPLE.replace(/\n\s*\n/g, "\n"));
  });

  it("has one kind of line end, however a pair is split", () => {
    const blocks = new Blocks();
    for (const piece of ["a\r", "\nb\r", "c"]) blocks.push(piece);
    expect(blocks.open()?.source).toBe("a\nb\nc");
  });

  it("keeps finished blocks as they are", () => {
    const blocks = cut("one\n\ntwo\n\nthr", 100);
    const before = [...blocks.closed];
    blocks.push("ee\n\nfour\n");
    expect(blocks.closed.slice(0, before.length)).toEqual(before);
  });
});

describe("code whose end has not come", () => {
  it("is code already", () => {
    const blocks = cut("text\n\n```ts\nlet a = 1;\nlet b", 4);
    expect(blocks.open()?.code).toEqual({ info: "ts", text: "let a = 1;\nlet b" });
  });

  it("does not show its closing mark for a moment", () => {
    expect(cut("```\na\n``", 1).open()?.code?.text).toBe("a\n");
  });

  it("is whole when its mark came without a line end", () => {
    const blocks = cut("```\na\n```", 1);
    expect(toHtml(blocks.open()?.source ?? "")).toContain("<code>a\n</code>");
  });

  it("is one block however long, up to the bound", () => {
    const code = "```rs\n" + "let a = 1;\n".repeat(3_000) + "```\n";
    expect(cut(code + "after", 500).closed).toEqual([{ source: code, cut: false }]);
  });

  it("is followed by what comes after it", () => {
    const blocks = cut("~~~\na\n~~~\nafter\n\n```\nb\n```\n", 1);
    expect(blocks.closed.map(({ source }) => source)).toEqual(["~~~\na\n~~~\n", "after\n", "```\nb\n```\n"]);
  });

  it("does not end at a shorter mark", () => {
    const blocks = cut("````\n```\ninside\n", 1);
    expect(blocks.open()?.code?.text).toBe("```\ninside\n");
  });
});

describe("a block without end", () => {
  const open = (blocks: Blocks) => blocks.open()?.source.length ?? 0;

  it("stays bounded, and is whole", () => {
    const text = "words and more words ".repeat(20_000);
    const blocks = cut(text, 3_000);
    expect(open(blocks)).toBeLessThanOrEqual(MAX_OPEN_CHARS);
    expect(blocks.closed.every(({ source }) => source.length <= MAX_OPEN_CHARS + 1)).toBe(true);
    expect([...blocks.closed, blocks.open()].map((block) => block?.source).join("")).toBe(text);
  });

  it("is never cut inside a character", () => {
    const blocks = cut("a" + "🦀".repeat(20_000), 1_001);
    for (const { source } of blocks.closed) expect(source).not.toMatch(/\p{Surrogate}/u);
  });

  it("of code goes on as code, line by line", () => {
    const line = "let something = another_thing();\n";
    const blocks = cut("```rs\n" + line.repeat(5_000), 9_000);
    expect(open(blocks)).toBeLessThanOrEqual(MAX_OPEN_CODE_CHARS);
    expect(blocks.open()?.code?.info).toBe("rs");
    const code = [...blocks.closed, blocks.open()].map((block) =>
      (block?.source ?? "").replace(/^```rs\n/, "").replace(/\n```\n$/, "\n"),
    );
    expect(code.join("")).toBe(line.repeat(5_000));
  });

  it("of a table keeps its head", () => {
    const blocks = cut("| a | b |\n| - | - |\n" + "| 1 | 2 |\n".repeat(3_000), 4_000);
    expect(blocks.closed.length).toBeGreaterThan(2);
    for (const { source } of blocks.closed) expect(toHtml(source)).toContain("<table>");
  });
});
