import { expect, it } from "vitest";
import { NewTabs } from "../model/newtabs";
import { Drafts, MAX_DRAFTS } from "./drafts";
import { outboxKeep, Shelf } from "./keep";

class Full implements Storage {
  length = 0;
  clear(): void {}
  getItem(): string | null {
    throw new Error("forbidden");
  }
  key(): string | null {
    return null;
  }
  removeItem(): void {}
  setItem(): void {
    throw new Error("full");
  }
}

it("a draft is there after a reload", () => {
  localStorage.clear();
  new Drafts(new Shelf(localStorage), () => 1).put("t", "half a thought");
  expect(new Drafts(new Shelf(localStorage), () => 2).get("t")).toBe("half a thought");
});

it("an empty draft leaves nothing behind", () => {
  localStorage.clear();
  const drafts = new Drafts(new Shelf(localStorage), () => 1);
  drafts.put("t", "x");
  drafts.put("t", "");
  expect(localStorage.length).toBe(0);
});

it("the oldest drafts give way", () => {
  localStorage.clear();
  let now = 0;
  const drafts = new Drafts(new Shelf(localStorage), () => now);
  for (; now <= MAX_DRAFTS; now += 1) drafts.put(`t${String(now)}`, "x");
  expect([drafts.get("t0"), drafts.get("t1"), localStorage.length]).toEqual(["", "x", MAX_DRAFTS]);
});

it("a storage that is full or forbidden costs only the memory over a reload", () => {
  const shelf = new Shelf(new Full());
  shelf.put("a", "1");
  expect([shelf.get("a"), shelf.keys("a")]).toEqual(["1", ["a"]]);
  shelf.drop("a");
  expect(shelf.get("a")).toBeNull();
});

it("prompts of two windows do not write over each other", () => {
  localStorage.clear();
  const [one, other] = [outboxKeep(new Shelf(localStorage)), outboxKeep(new Shelf(localStorage))];
  one.put("a", "1");
  other.put("b", "2");
  one.drop("a");
  expect([...other.load()]).toEqual([["b", "2"]]);
});

it("a new tab keeps its name over a reload, and its draft over the window's end", () => {
  let own: string | null = null;
  let shared: string | null = null;
  const keep = {
    load: () => own,
    save: (value: string) => void (own = value),
    loadShared: () => shared,
    saveShared: (tab: string | null) => void (shared = tab),
  };
  const first = new NewTabs(keep).first(() => "fresh");
  expect(new NewTabs(keep).first(() => "another")).toBe(first);
  own = null;
  expect(new NewTabs(keep).first(() => "another")).toBe(first);
  new NewTabs(keep).drop(first);
  expect(new NewTabs(keep).first(() => "another")).toBe("another");
});
