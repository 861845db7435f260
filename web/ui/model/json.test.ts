import { expect, it } from "vitest";
import { firstLines, jsonRuns } from "./json";

it("JSON is told apart by names, texts, numbers and words, and nothing is lost", () => {
  const text = JSON.stringify({ 'a"b': "<b>", n: -1.5e3, t: [true, null] }, null, 2);
  const runs = jsonRuns(text);
  expect(runs.map((run) => run.text).join("")).toBe(text);
  expect(runs.filter(({ kind }) => kind !== null)).toEqual([
    { text: '"a\\"b"', kind: "name" },
    { text: '"<b>"', kind: "string" },
    { text: '"n"', kind: "name" },
    { text: "-1500", kind: "number" },
    { text: '"t"', kind: "name" },
    { text: "true", kind: "keyword" },
    { text: "null", kind: "keyword" },
  ]);
  for (const odd of ['"half', "", "no JSON at all 1e", '\\"x'])
    expect(
      jsonRuns(odd)
        .map((run) => run.text)
        .join(""),
    ).toBe(odd);
});

it("the first lines of a text are cut at a line's end", () => {
  expect(firstLines("a\nb\nc", 2)).toEqual({ text: "a\nb", total: 3 });
  expect(firstLines("a", 2)).toEqual({ text: "a", total: 1 });
  expect(firstLines("", 2)).toEqual({ text: "", total: 1 });
});
