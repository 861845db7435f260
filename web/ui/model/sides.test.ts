import { expect, it } from "vitest";
import type { DiffLine, FileDiff } from "../wire";
import type { Row } from "./diff";
import { fileDiff, sidesOf } from "./sides";

const line = (text: string): DiffLine =>
  text.startsWith("+")
    ? { type: "added", text: text.slice(1) }
    : text.startsWith("-")
      ? { type: "removed", text: text.slice(1) }
      : { type: "same", text };

const change = (hunks: [number, number, string[]][], leftOut = 0): FileDiff => {
  const lines = hunks.flatMap(([, , texts]) => texts);
  return {
    hunks: hunks.map(([oldStart, newStart, texts]) => ({ oldStart, newStart, lines: texts.map(line) })),
    added: lines.filter((text) => text.startsWith("+")).length,
    removed: lines.filter((text) => text.startsWith("-")).length,
    leftOut,
  };
};

const drawn = (row: Row | null) =>
  row === null
    ? "·"
    : row.kind === "skip"
      ? `… ${row.text}`
      : `${String(row.old ?? "")}:${String(row.new ?? "")}${{ same: " ", add: "+", del: "-" }[row.kind]}${row.text}`;

it("a change becomes numbered rows, with what lies between its parts counted", () => {
  const diff = fileDiff(
    change([
      [3, 3, ["a", "-let x = 1;", "+let x = 2;", "b"]],
      [20, 20, ["c", "+d"]],
    ]),
  );
  expect(diff.rows.map(drawn)).toEqual([
    "… 2 unchanged lines",
    "3:3 a",
    "4:-let x = 1;",
    ":4+let x = 2;",
    "5:5 b",
    "… 14 unchanged lines",
    "20:20 c",
    ":21+d",
  ]);
  expect([diff.added, diff.removed, diff.cut, diff.leftOut]).toEqual([2, 1, false, 0]);
  const marks = diff.rows.flatMap(({ text, mark }) => (mark ? [text.slice(...mark)] : []));
  expect(marks).toEqual(["1", "2"]);
});

it("a new file has only lines that are new, and what was left out is said", () => {
  const diff = fileDiff(change([[0, 1, ["+one", "+two"]]], 7));
  expect(diff.rows.map(drawn)).toEqual([":1+one", ":2+two"]);
  expect(diff.leftOut).toBe(7);
});

it("lines that replace each other stand beside each other, the rest beside nothing", () => {
  const { rows } = fileDiff(change([[1, 1, ["same", "-a", "-b", "-c", "+A", "end", "+new"]]]));
  expect(sidesOf(rows).map(({ before, after }) => [drawn(before), drawn(after)])).toEqual([
    ["1:1 same", "1:1 same"],
    ["2:-a", ":2+A"],
    ["3:-b", "·"],
    ["4:-c", "·"],
    ["5:3 end", "5:3 end"],
    ["·", ":4+new"],
  ]);
});

it("what comes before something goes is a change of its own", () => {
  const { rows } = fileDiff(change([[1, 1, ["+A", "-b", "+B"]]]));
  expect(sidesOf(rows).map(({ before, after }) => [drawn(before), drawn(after)])).toEqual([
    ["·", ":1+A"],
    ["1:-b", ":2+B"],
  ]);
});
