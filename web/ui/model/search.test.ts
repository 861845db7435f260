import { beforeEach, describe, expect, test } from "vitest";
import type { FoundSession, SearchQuery } from "../wire";
import type { Ask, Reply } from "./requests";
import { REST_MS, Search, within } from "./search";

function found(session: number, ...seqs: number[]): FoundSession {
  const messages = seqs.map((seq) => ({
    epoch: "e",
    seq,
    turn: 1,
    role: "user" as const,
    time: 1,
    snippet: [{ text: "word", hit: true }],
  }));
  return { session, title: "", agent: "demo", workspace: "/w", updatedMs: 1, messages };
}

let asked: { query: SearchQuery; answer: (reply: Reply) => void }[];
let timers: { run: () => void; ms: number; on: boolean }[];
let search: Search;

beforeEach(() => {
  asked = [];
  timers = [];
  search = new Search({
    ask: (what: Ask) =>
      new Promise((answer) => {
        if (what.type === "search") asked.push({ query: what.query, answer });
      }),
    later: (run, ms) => {
      const timer = { run, ms, on: true };
      timers.push(timer);
      return () => {
        timer.on = false;
      };
    },
    changed: () => undefined,
  });
});

function rest(): void {
  for (const timer of timers.splice(0)) if (timer.on) timer.run();
}

async function answer(at: number, ...sessions: FoundSession[]): Promise<void> {
  asked[at]?.answer({ type: "found", request: 0, sessions, more: false, behind: 0 });
  await Promise.resolve();
}

describe("a search", () => {
  test("asks once the person rests, for what stands there then", () => {
    search.type("h");
    search.type("he");
    expect(timers.map(({ ms }) => ms)).toEqual([REST_MS, REST_MS]);
    rest();
    expect(asked.map(({ query }) => query)).toEqual([{ text: "he", order: "newest", limit: 50 }]);
  });

  test("drops the answer to what nobody looks for any more", async () => {
    search.type("one");
    rest();
    search.type("two");
    rest();
    await answer(1, found(2, 5));
    await answer(0, found(1, 4));
    expect(search.found?.map(({ session }) => session)).toEqual([2]);
    search.clear();
    await answer(1, found(2, 5));
    expect(search.found).toBeNull();
    expect(search.active).toBe(false);
  });

  test("carries its filters, whole days where the person is among them", () => {
    search.type("x");
    search.filter({
      order: "ranked",
      agent: "demo",
      role: "tool",
      path: " src/ ",
      since: "2026-03-01",
      until: "2026-03-02",
    });
    rest();
    expect(asked[0]?.query).toEqual({
      text: "x",
      order: "ranked",
      limit: 50,
      agent: "demo",
      role: "tool",
      path: "src/",
      since: new Date(2026, 2, 1).getTime(),
      until: new Date(2026, 2, 3).getTime(),
    });
    expect(search.narrowed).toBe(5);
    search.clearFilters();
    rest();
    expect(asked[1]?.query).toEqual({ text: "x", order: "newest", limit: 50 });
  });

  test("marks hits across sessions and stays at the ends", async () => {
    search.type("x");
    rest();
    await answer(0, found(1, 4, 5), found(2, 9));
    expect(search.hit?.message.seq).toBe(4);
    search.step(1);
    search.step(1);
    search.step(1);
    expect(search.hit).toMatchObject({ session: { session: 2 }, message: { seq: 9 } });
    search.step(-1);
    expect(search.hit?.message.seq).toBe(5);
  });

  test("forgets a session that was deleted, and asks again on a new link", async () => {
    search.type("x");
    rest();
    await answer(0, found(1, 4), found(2, 9));
    search.step(1);
    search.forget(2);
    expect(search.hits.map(({ session }) => session.session)).toEqual([1]);
    expect(search.marked).toBe(0);
    search.again();
    expect(asked).toHaveLength(2);
  });

  test("says why nothing came of it, and asks for more when told", async () => {
    search.type("x");
    rest();
    asked[0]?.answer({ type: "failed", request: 0, code: "internal", message: "no index" });
    await Promise.resolve();
    expect(search.problem).toBe("no index");
    search.loadMore();
    asked[1]?.answer({ type: "found", request: 0, sessions: [found(1, 1)], more: true, behind: 2 });
    await Promise.resolve();
    expect(asked[1]?.query.limit).toBe(100);
    expect([search.problem, search.canLoadMore, search.behind]).toEqual(["", true, 2]);
  });
});

test("what is too long is cut between characters", () => {
  expect(within("äöü", 4)).toBe("äö");
  expect(within("a😀b", 3)).toBe("a");
  expect(within("short", 1024)).toBe("short");
});
