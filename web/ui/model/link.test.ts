import { describe, expect, it } from "vitest";
import { LinkMachine, LONGEST_WAIT_MS, OPEN_WITHIN_MS, PING_EVERY_MS, PONG_WITHIN_MS } from "./link";

/** A machine without chance: the wait is exactly the back-off. */
function machine(): LinkMachine {
  return new LinkMachine(() => 0.5);
}

function online(now: number): LinkMachine {
  const link = machine();
  link.handle(now, { type: "start" });
  expect(link.handle(now, { type: "opened" })).toEqual([{ type: "hello" }]);
  link.handle(now, { type: "welcomed" });
  expect(link.phase).toBe("online");
  return link;
}

describe("a lost link", () => {
  it("is tried again after longer and longer waits, never over the longest", () => {
    const link = machine();
    let now = 0;
    const waits: number[] = [];
    link.handle(now, { type: "start" });
    for (let round = 0; round < 7; round += 1) {
      link.handle(now, { type: "closed" });
      waits.push((link.retryAt ?? 0) - now);
      now = link.retryAt ?? 0;
      expect(link.handle(now, { type: "tick" })).toEqual([{ type: "open" }]);
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, LONGEST_WAIT_MS, LONGEST_WAIT_MS]);
    expect(link.retries).toBe(7);
  });

  it("counts from nothing again once it was welcomed", () => {
    const link = machine();
    link.handle(0, { type: "start" });
    link.handle(0, { type: "closed" });
    link.handle(250, { type: "tick" });
    link.handle(260, { type: "opened" });
    expect(link.retries).toBe(1);
    link.handle(270, { type: "welcomed" });
    expect(link.retries).toBe(0);
  });

  it("does not wait when the page wakes", () => {
    const link = machine();
    link.handle(0, { type: "start" });
    link.handle(0, { type: "closed" });
    expect(link.handle(1, { type: "wake" })).toEqual([{ type: "open" }]);
    // Already trying: a second one would only be in the way.
    expect(link.handle(2, { type: "wake" })).toEqual([]);
  });

  it("asks whether it is let in after a few failures, and then waits to be woken", () => {
    const link = machine();
    let now = 0;
    link.handle(now, { type: "start" });
    expect(link.handle(now, { type: "closed" })).toEqual([]);
    now = 250;
    link.handle(now, { type: "tick" });
    expect(link.handle(now, { type: "closed" })).toEqual([]);
    now = 750;
    link.handle(now, { type: "tick" });
    expect(link.handle(now, { type: "closed" })).toEqual([{ type: "check" }]);
    link.handle(now, { type: "checked", letIn: false });
    expect([link.phase, link.nextTick()]).toEqual(["locked", null]);
    expect(link.handle(now, { type: "wake" })).toEqual([{ type: "open" }]);
  });

  it("is given up when it does not open in time", () => {
    const link = machine();
    link.handle(0, { type: "start" });
    expect(link.nextTick()).toBe(OPEN_WITHIN_MS);
    expect(link.handle(OPEN_WITHIN_MS, { type: "tick" })).toEqual([{ type: "close" }]);
    expect(link.phase).toBe("waiting");
  });
});

describe("a quiet link", () => {
  it("is asked, and lives on if it answers", () => {
    const link = online(0);
    expect(link.nextTick()).toBe(PING_EVERY_MS);
    expect(link.handle(PING_EVERY_MS, { type: "tick" })).toEqual([{ type: "ping", n: 1 }]);
    link.handle(PING_EVERY_MS + 5, { type: "pong", n: 1 });
    expect(link.nextTick()).toBe(2 * PING_EVERY_MS + 5);
  });

  it("is dead if it does not", () => {
    const link = online(0);
    link.handle(PING_EVERY_MS, { type: "tick" });
    link.handle(PING_EVERY_MS, { type: "pong", n: 99 });
    expect(link.handle(PING_EVERY_MS + PONG_WITHIN_MS, { type: "tick" })).toEqual([{ type: "close" }]);
    expect([link.phase, link.retries]).toEqual(["waiting", 1]);
  });

  it("is asked at once after a sleep", () => {
    const link = online(0);
    expect(link.handle(3_600_000, { type: "wake" })).toEqual([{ type: "ping", n: 1 }]);
    expect(link.handle(3_600_000, { type: "wake" })).toEqual([]);
    expect(link.handle(3_610_000, { type: "tick" })).toEqual([{ type: "close" }]);
  });

  it("has time to be heard if the answer came while nobody looked", () => {
    const link = online(0);
    link.handle(PING_EVERY_MS, { type: "tick" });
    const woke = PING_EVERY_MS + 2 * PONG_WITHIN_MS;
    expect(link.handle(woke, { type: "wake" })).toEqual([]);
    const due = link.nextTick() ?? 0;
    expect(due).toBeGreaterThan(woke);
    // Who wakes again and again waits no longer for it.
    link.handle(due - 1, { type: "wake" });
    expect(link.handle(woke, { type: "tick" })).toEqual([]);
    expect(link.handle(due, { type: "tick" })).toEqual([{ type: "close" }]);
  });
});

it("a fresh link replaces the one before", () => {
  const link = online(0);
  expect(link.handle(5, { type: "renew" })).toEqual([{ type: "close" }, { type: "open" }]);
  expect(link.handle(6, { type: "opened" })).toEqual([{ type: "hello" }]);
});
