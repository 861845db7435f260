import { describe, expect, test } from "vitest";
import type { FromView } from "../wire";
import { deleteAll } from "./deleting";
import { type Ask, LINK_LOST, type Reply, Requests } from "./requests";

function host() {
  const sent: FromView[] = [];
  const requests = new Requests((frame) => {
    sent.push(frame);
    return true;
  });
  return { sent, requests };
}

describe("what is asked under a number", () => {
  test("has a number of its own and gets the answer with that number", async () => {
    const { sent, requests } = host();
    const first = requests.ask({ type: "upkeep" });
    const second = requests.ask({ type: "renameSession", session: 3, title: "Mine" });
    expect(sent).toEqual([
      { type: "upkeep", request: 1 },
      { type: "renameSession", session: 3, title: "Mine", request: 2 },
    ]);
    requests.take({ type: "done", request: 2 });
    requests.take({ type: "failed", request: 1, code: "internal", message: "no" });
    expect(await second).toEqual({ type: "done", request: 2 });
    expect(await first).toEqual({ type: "failed", request: 1, code: "internal", message: "no" });
  });

  test("hears how far it is before the answer, and nothing after it", async () => {
    const { requests } = host();
    const news: number[] = [];
    const rebuilt = requests.ask({ type: "rebuild" }, (done) => news.push(done));
    requests.take({ type: "progress", request: 1, done: 1, total: 2 });
    requests.take({ type: "rebuilt", request: 1, rebuilt: { sessions: 1, messages: 2, backup: "b" } });
    requests.take({ type: "progress", request: 1, done: 2, total: 2 });
    expect((await rebuilt).type).toBe("rebuilt");
    expect(news).toEqual([1]);
  });

  test("is answered when the link breaks, and when nobody is there", async () => {
    const { requests } = host();
    const open = requests.ask({ type: "upkeep" });
    requests.linkLost();
    expect(await open).toMatchObject({ type: "failed", message: LINK_LOST });
    const alone = new Requests(() => false);
    expect(await alone.ask({ type: "upkeep" })).toMatchObject({ type: "failed" });
  });

  test("leaves frames without a number to others, and takes an answer that nobody waits for", () => {
    const { requests } = host();
    expect(requests.take({ type: "pong", n: 1 })).toBe(false);
    expect(requests.take({ type: "done", request: 99 })).toBe(true);
  });
});

describe("deleting many", () => {
  test("asks for each once, counts those that fail, and takes those that are gone as deleted", async () => {
    const asked: Ask[] = [];
    const progress: [number, number][] = [];
    const answers: Record<number, Reply> = {
      2: { type: "failed", request: 0, code: "not_found", message: "gone" },
      3: { type: "failed", request: 0, code: "internal", message: "the disk is full" },
    };
    const result = await deleteAll(
      [1, 2, 3, 4, 5, 6],
      (what) => {
        asked.push(what);
        const session = what.type === "deleteSession" ? what.session : 0;
        return Promise.resolve(answers[session] ?? { type: "done", request: 0 });
      },
      (done, total) => progress.push([done, total]),
    );
    expect(result).toEqual({ deleted: 5, failed: 1, why: "the disk is full" });
    expect(asked.map((what) => (what.type === "deleteSession" ? what.session : 0)).sort()).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
    expect(progress.at(0)).toEqual([0, 6]);
    expect(progress.at(-1)).toEqual([6, 6]);
  });
});
