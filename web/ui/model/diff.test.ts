import { describe, expect, it } from "vitest";
import { diffOf, MAX_CHARS, type Row, unifiedDiff } from "./diff";

const drawn = (rows: Row[]) =>
  rows.map(({ kind, old, new: now, text }) =>
    kind === "skip"
      ? `… ${text}`
      : `${old === null ? "" : String(old)}:${now === null ? "" : String(now)}${{ same: " ", add: "+", del: "-" }[kind]}${text}`,
  );

/** Numbers that look random and are the same each time. */
function chances(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

describe("two texts", () => {
  it("differ in numbered rows, with the words that changed and a few lines around", () => {
    const before = "1\n2\n3\n4\nlet count = one;\n6\n7\n8\n9\n10\n";
    const { rows, added, removed, cut } = diffOf(before, before.replace("one", "two").replace("9\n", ""));
    expect(drawn(rows)).toEqual([
      "… 1 unchanged line",
      "2:2 2",
      "3:3 3",
      "4:4 4",
      "5:-let count = one;",
      ":5+let count = two;",
      "6:6 6",
      "7:7 7",
      "8:8 8",
      "9:-9",
      "10:9 10",
    ]);
    expect([added, removed, cut]).toEqual([1, 2, false]);
    expect(rows[4]?.mark).toEqual([12, 15]);
    expect(rows[5]?.mark).toEqual([12, 15]);
  });

  it("are all new without one before, and nothing where they are the same", () => {
    expect(drawn(diffOf(null, "a\nb\n").rows)).toEqual([":1+a", ":2+b"]);
    expect(diffOf("a\n", "a\n")).toEqual({ rows: [], added: 0, removed: 0, cut: false });
    expect(drawn(diffOf("a", "").rows)).toEqual(["1:-a"]);
  });

  it.each(Array.from({ length: 200 }, (_, at) => at + 1))("can be made of each other, round %i", (round) => {
    const chance = chances(round);
    const lines = () => Array.from({ length: chance(25) }, () => "abcde"[chance(5)] ?? "");
    const [old, now] = [lines(), lines()];
    const { rows } = diffOf(old.map((line) => `${line}\n`).join(""), now.map((line) => `${line}\n`).join(""));
    if (rows.length === 0) return expect(old.join()).toBe(now.join());
    // Unchanged lines that are left out are the same in both, so what is shown must fit the rest.
    let [oldAt, newAt] = [0, 0];
    for (const row of rows) {
      if (row.kind === "skip") {
        const count = Number.parseInt(row.text, 10);
        expect(old.slice(oldAt, oldAt + count)).toEqual(now.slice(newAt, newAt + count));
        [oldAt, newAt] = [oldAt + count, newAt + count];
        continue;
      }
      if (row.kind !== "add") expect([row.old, row.text]).toEqual([oldAt + 1, old[oldAt++]]);
      if (row.kind !== "del") expect([row.new, row.text]).toEqual([newAt + 1, now[newAt++]]);
    }
    expect([oldAt, newAt]).toEqual([old.length, now.length]);
  });

  it("that have nothing in common, or are huge, still make an answer", () => {
    const before = Array.from({ length: 20_000 }, (_, at) => `old ${String(at)}`).join("\n");
    const after = Array.from({ length: 20_000 }, (_, at) => `new ${String(at)}`).join("\n");
    expect(diffOf(before, after)).toMatchObject({ added: 20_000, removed: 20_000, cut: false });
    expect(diffOf("", "x".repeat(MAX_CHARS + 1))).toMatchObject({ added: 1, cut: true });
  });
});

describe("a written difference", () => {
  it("keeps its numbers", () => {
    const text = [
      "--- a/x.rs",
      "+++ b/x.rs",
      "@@ -3,3 +3,3 @@ fn main() {",
      " let a = 1;",
      "-let b = 2;",
      "+let b = 3;",
      " let c = 3;",
      "@@ -9 +9,2 @@",
      "--- this line began with two dashes",
      "+one",
      "+two",
      "\\ No newline at end of file",
    ].join("\n");
    const { rows, added, removed } = unifiedDiff(text);
    expect(drawn(rows)).toEqual([
      "… fn main() {",
      "3:3 let a = 1;",
      "4:-let b = 2;",
      ":4+let b = 3;",
      "5:5 let c = 3;",
      "… ",
      "9:--- this line began with two dashes",
      ":9+one",
      ":10+two",
      "… No newline at end of file",
    ]);
    expect([added, removed, rows[2]?.mark]).toEqual([3, 2, [8, 9]]);
  });

  it("without a head has no numbers, and what is no difference stays as it is", () => {
    expect(drawn(unifiedDiff("-a\n+b\nc").rows)).toEqual([":-a", ":+b", ": c"]);
  });
});
