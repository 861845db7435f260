/** The record as the page holds it: taken in pieces, bounded, filtered, and drawn. */
import { describe, expect, test } from "vitest";
import {
  delta,
  eventsOf,
  laidOut,
  MAX_ENTRIES,
  NO_FILTER,
  picture,
  size,
  type WireEntry,
  WireRecord,
} from "./inspect";

function entry(n: number, more: Partial<WireEntry> = {}): WireEntry {
  const base = {
    n,
    at_ms: n,
    side: "agent",
    peer: "demo life 1",
    dir: "in",
    dialect: "plain",
    name: "status",
  };
  return { ...base, bytes: 2, verdict: "ok", raw: "{}", ...more } as WireEntry;
}

function filled(...entries: WireEntry[]): WireRecord {
  const record = new WireRecord();
  record.take(entries.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return record;
}

describe("a record", () => {
  test("is taken in pieces that are cut anywhere, each entry once", () => {
    const text = `{"session":1,"recording":true}\n${JSON.stringify(entry(1, { name: "é" }))}\n\n${JSON.stringify(entry(2))}\n`;
    for (let at = 0; at < text.length; at += 7) {
      const record = new WireRecord();
      record.take(text.slice(0, at));
      record.take(text.slice(at));
      record.take(text);
      expect(record.recording).toBe(true);
      expect(record.entries.map(({ n }) => n)).toEqual([1, 2]);
    }
  });

  test("forgets half a line when the answer breaks off, and what is no entry", () => {
    const record = filled(entry(1));
    record.take('{"n":2,"at_');
    record.restart();
    record.take(`not json\n[]\nnull\n${JSON.stringify(entry(2))}\n`);
    expect(record.entries.map(({ n }) => n)).toEqual([1, 2]);
  });

  test("knows from its own notes whether it goes on", () => {
    const note = (n: number, name: string) => entry(n, { side: "host", dir: "note", name });
    expect(filled(note(1, "recording on")).recording).toBe(true);
    expect(filled(note(1, "recording on"), note(2, "recording off")).recording).toBe(false);
  });

  test("keeps the newest, by number and by weight, and counts the others", () => {
    const many = filled(...Array.from({ length: MAX_ENTRIES + 3 }, (_, at) => entry(at + 1)));
    expect([many.entries.length, many.dropped, many.entries[0]?.n]).toEqual([MAX_ENTRIES, 3, 4]);
    const large = "x".repeat(10 * 1024 * 1024);
    const heavy = filled(entry(1, { raw: large }), entry(2, { raw: large }), entry(3, { raw: large }));
    expect(heavy.entries.map(({ n }) => n)).toEqual([2, 3]);
  });

  test("shows what the filter lets through", () => {
    const record = filled(
      entry(1, { name: "prompt", side: "view", raw: "Hello" }),
      entry(2, { verdict: "noise", why: "no JSON" }),
      entry(3, { dir: "out", name: "prompt" }),
    );
    const shown = (filter: object) => record.shown({ ...NO_FILTER, ...filter }).map(({ n }) => n);
    expect(shown({})).toEqual([1, 2, 3]);
    expect(shown({ side: "view" })).toEqual([1]);
    expect(shown({ dir: "out" })).toEqual([3]);
    expect(shown({ verdict: "noise" })).toEqual([2]);
    expect(shown({ name: "prompt" })).toEqual([1, 3]);
    expect(shown({ text: "hELLo" })).toEqual([1]);
    expect(shown({ text: "no json" })).toEqual([2]);
    expect(record.names()).toEqual(["prompt", "status"]);
  });
});

describe("the picture", () => {
  test("has a column for each stretch of time, and the pauses between", () => {
    const made = picture(
      [
        entry(1, { at_ms: 0 }),
        entry(2, { at_ms: 10, side: "view", verdict: "refused" }),
        entry(3, { at_ms: 5000, side: "host", dir: "note" }),
        entry(4, { at_ms: 10_000 }),
      ],
      0,
      10,
    );
    expect(made.columns.map(({ agent, view, wrong }) => [agent, view, wrong])[0]).toEqual([1, 1, 1]);
    expect(made.columns.at(-1)).toMatchObject({ agent: 1, view: 0 });
    expect(made.pauses).toEqual([{ from: 10, to: 10_000 }]);
    expect(made.most).toBe(1);
  });

  test("of the last stretch leaves out what was before", () => {
    const made = picture(
      [entry(1, { at_ms: 0 }), entry(2, { at_ms: 9000 }), entry(3, { at_ms: 9500 })],
      1000,
      4,
    );
    expect([made.from, made.to]).toEqual([8500, 9500]);
    expect(made.columns.reduce((sum, column) => sum + column.agent, 0)).toBe(2);
  });

  test("of nothing is empty", () => {
    expect(picture([], 0, 3).columns.every(({ agent, view }) => agent + view === 0)).toBe(true);
  });
});

test("small words", () => {
  expect(eventsOf(entry(1, { events: { from: 4, to: 4, kinds: [] } }))).toBe("#4");
  expect(eventsOf(entry(1, { events: { from: 4, to: 6, kinds: [] } }))).toBe("#4–6");
  expect([delta(5), delta(12_000), delta(3_600_000)]).toEqual(["+5 ms", "+12 s", "+60 min"]);
  expect([size(9), size(65_536), size(16_777_216)]).toEqual(["9 B", "65 kB", "16 MB"]);
  expect(laidOut(entry(1, { raw: '{"a":1}' }))).toBe('{\n  "a": 1\n}');
  expect(laidOut(entry(1, { raw: "no {json" }))).toBe("no {json");
});
