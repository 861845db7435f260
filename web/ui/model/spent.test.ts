import { expect, test } from "vitest";
import type { Body, Event } from "../wire";
import { TabLog } from "./log";
import { lastDays, spentLong, spentShort, sumOf } from "./spent";
import { pieceAt } from "./turn";

function logOf(...bodies: [Body, number?][]): TabLog {
  const log = new TabLog();
  const events: Event[] = bodies.map(([body, turn], at) => ({
    seq: at + 1,
    time: 1_000 * at,
    ...(turn === undefined ? {} : { turn }),
    body,
  }));
  log.take({ type: "events", tab: "t", epoch: "e", after: 0, to: events.length, events });
  return log;
}

const used = (input: number, output: number): Body => ({
  type: "turnUsed",
  tokens: { input, output, cached: 0, thought: 0 },
});
const soFar = (amount: number): Body => ({
  type: "usage",
  used: 1,
  size: 2,
  cost: { amount, currency: "USD" },
});

test("tokens belong to their turn and to the conversation", () => {
  const log = logOf(
    [{ type: "turnStarted" }, 1],
    [used(100, 20), 1],
    [{ type: "turnStarted" }, 2],
    [used(5, 5), 2],
  );
  expect(log.turn(1)?.used?.tokens).toEqual({ input: 100, output: 20, cached: 0, thought: 0 });
  expect(log.spent.tokens).toEqual({ input: 105, output: 25, cached: 0, thought: 0 });
  expect(spentShort(log.spent)).toBe("130 tokens");
});

test("what a session has cost so far is the turn's by what it rose; one that begins anew counts from nothing", () => {
  const log = logOf([soFar(0.5), 1], [soFar(0.75), 2], [soFar(0.25), 3]);
  expect([1, 2, 3].map((turn) => log.turn(turn)?.used?.costs.get("USD"))).toEqual([0.5, 0.25, 0.25]);
  expect(log.spent.costs.get("USD")).toBe(1);
});

test("a turn's own sum goes before what was found by subtracting", () => {
  const own: Body = { ...used(1, 1), cost: { amount: 0.25, currency: "USD" } } as Body;
  const log = logOf([soFar(0.5), 1], [own, 1]);
  expect(log.turn(1)?.used?.costs.get("USD")).toBe(0.25);
  expect(log.spent.costs.get("USD")).toBe(0.25);
});

test("what a turn is said to have cost adds up, and what the whole has grown by meanwhile is not added to it", () => {
  const own: Body = { ...used(1, 1), cost: { amount: 0.25, currency: "USD" } } as Body;
  const log = logOf([own, 1], [soFar(0.75), 1], [own, 1]);
  expect(log.turn(1)?.used?.costs.get("USD")).toBe(0.5);
  expect(log.spent.costs.get("USD")).toBe(0.5);
});

test("an event is found in its piece: words by their last, calls by their first", () => {
  const log = logOf(
    [{ type: "turnStarted" }, 1],
    [{ type: "text", text: "a" }, 1],
    [{ type: "text", text: "b" }, 1],
    [{ type: "toolCall", call: { id: "c", title: "Read", kind: "read", status: "pending" } }, 1],
    [{ type: "toolCallUpdate", call: { id: "c", title: "", kind: "read", status: "completed" } }, 1],
    [{ type: "text", text: "c" }, 1],
  );
  const turn = log.turn(1);
  if (!turn) throw new Error("no turn");
  expect(turn.marks).toEqual([3, 4, 6]);
  expect([2, 3, 4, 6, 99].map((seq) => pieceAt(turn, seq))).toEqual([0, 0, 1, 2, 2]);
});

test("days without a row are there, and all are in their order", () => {
  const now = Date.UTC(2026, 10, 16, 12);
  const row = {
    day: "2026-11-15",
    turns: 2,
    tokens: { input: 1_000, output: 234, cached: 10, thought: 4 },
    costs: [{ micros: 1_500_000, currency: "USD" }],
  };
  const days = lastDays([row, { ...row, day: "2020-01-01" }], now, 3);
  expect(days.map(({ day, turns }) => [day, turns])).toEqual([
    ["2026-11-14", 0],
    ["2026-11-15", 2],
    ["2026-11-16", 0],
  ]);
  expect(spentLong(sumOf(days.map(({ spent }) => spent)))).toBe(
    "1,000 tokens in (10 from the cache), 234 out (4 thinking), $1.50",
  );
});
