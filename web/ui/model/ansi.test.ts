import { expect, it } from "vitest";
import { terminalLines } from "./ansi";
import { addOutput, MAX_OUTPUT_CHARS, newOutput, tailOf } from "./output";

const plain = (text: string) => terminalLines(text).map((line) => line.map((run) => run.text).join(""));

it("colours and weights become looks, everything else for terminals is left out", () => {
  expect(
    terminalLines("\u001b[1;32mok\u001b[0m done\u001b[K\n\u001b[38;5;9mred\u001b[39m\u001b[38;2;1;2;3mx"),
  ).toEqual([
    [
      { text: "ok", look: "bold c2" },
      { text: " done", look: "" },
    ],
    [
      { text: "red", look: "c9" },
      { text: "x", look: "" },
    ],
  ]);
  expect(
    plain("a\u001b]0;title\u0007b\u001b]8;;http://evil.example\u001b\\c\u001b(Bd\u001b[?25le\u001b[12"),
  ).toEqual(["abcde"]);
});

it("a line that is written over shows what was written last", () => {
  expect(plain("10 %\r20 %\r30 %\r\nnext\r\n")).toEqual(["30 %", "next"]);
  expect(plain("ab\b\bcd")).toEqual(["cd"]);
  expect(plain("kept\r")).toEqual(["kept"]);
});

it("a sequence without an end does not swallow what follows its line", () => {
  expect(plain("\u001b]0;never ends\nmore")).toEqual(["", "more"]);
  expect(plain("x\u001b")).toEqual(["x"]);
});

it("the end of an output is kept, and how much was let go", () => {
  const output = newOutput();
  let written = 0;
  for (let at = 0; at < 5_000; at += 1) {
    const line = `${String(at)} ${"x".repeat(1_000)}\n`;
    written += line.length;
    addOutput(output, line);
  }
  expect(output.text.length).toBeLessThanOrEqual(2 * MAX_OUTPUT_CHARS);
  expect(output.text.endsWith("\n")).toBe(true);
  expect(/^\d+ x/.test(output.text)).toBe(true);
  expect(output.dropped + output.text.length).toBe(written);
});

it("the tail of a text has so many lines, or so many characters", () => {
  expect(tailOf("a\nb\nc\n", 2, 100)).toEqual({ text: "b\nc\n", before: 2 });
  expect(tailOf("a\nb\nc", 2, 100)).toEqual({ text: "b\nc", before: 2 });
  expect(tailOf("a\nb", 5, 100)).toEqual({ text: "a\nb", before: 0 });
  expect(tailOf("\n\na", 5, 100)).toEqual({ text: "\n\na", before: 0 });
  expect(tailOf("", 5, 100)).toEqual({ text: "", before: 0 });
  expect(tailOf(`${"x".repeat(10_000)}😀${"y".repeat(99)}`, 5, 100).text).toBe("y".repeat(99));
});
