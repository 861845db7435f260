import { expect, it } from "vitest";
import { type Keep, MAX_KEPT_IMAGE_CHARS, Outbox, STALE_MS, type Unsent } from "./outbox";

function memory(): Keep & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    load: () => new Map(kept),
    put: (name, value) => void kept.set(name, value),
    drop: (name) => void kept.delete(name),
  };
}

const entry = (name: string, madeMs = 0): Unsent => ({
  name,
  tab: "t",
  text: `say ${name}`,
  images: [],
  madeMs,
  opening: null,
  held: null,
});

it("what was not confirmed outlives the page, under the same name", () => {
  const keep = memory();
  new Outbox(keep, 0).add(entry("a"));
  const later = new Outbox(keep, 1_000);
  expect(later.due().map(({ name, text }) => [name, text])).toEqual([["a", "say a"]]);
  later.confirm("a");
  expect(keep.kept.size).toBe(0);
});

it("goes out once per link, and again on the next", () => {
  const outbox = new Outbox(memory(), 0);
  outbox.add(entry("a"));
  expect(outbox.due().length).toBe(1);
  expect(outbox.due().length).toBe(0);
  outbox.linkLost();
  expect(outbox.due().map(({ name }) => name)).toEqual(["a"]);
});

it("what is old is held, not sent by surprise", () => {
  const keep = memory();
  new Outbox(keep, 0).add(entry("a"));
  const later = new Outbox(keep, STALE_MS + 1);
  expect(later.due()).toEqual([]);
  expect(later.of("t")[0]?.held).toBeTruthy();
  later.release("a", STALE_MS + 2);
  expect(later.due().map(({ name }) => name)).toEqual(["a"]);
});

it("a refused prompt keeps its words until the person decides", () => {
  const outbox = new Outbox(memory(), 0);
  outbox.add(entry("a"));
  outbox.due();
  expect(outbox.hold("a", "the folder is not trusted")?.text).toBe("say a");
  outbox.linkLost();
  expect(outbox.due()).toEqual([]);
  outbox.remove("a");
  expect(outbox.of("t")).toEqual([]);
});

it("what somebody else wrote is dropped", () => {
  const keep = memory();
  keep.kept.set("x", "{broken").set("y", '{"tab":1}').set("z", "null");
  expect(new Outbox(keep, 0).due()).toEqual([]);
  expect(keep.kept.size).toBe(0);
});

it("pictures go with their prompt over a reload; those that are too large hold it back", () => {
  const keep = memory();
  const outbox = new Outbox(keep, 0);
  const small = { mime: "image/png", data: "AAAA" };
  outbox.add({ ...entry("a"), images: [small] });
  outbox.add({ ...entry("b"), images: [{ mime: "image/png", data: "A".repeat(MAX_KEPT_IMAGE_CHARS + 1) }] });
  expect(outbox.due().map(({ images }) => images.length)).toEqual([1, 1]);
  const later = new Outbox(keep, 1_000);
  expect(later.due().map(({ name, images }) => [name, images])).toEqual([["a", [small]]]);
  expect(later.get("b")).toMatchObject({ images: [], held: expect.stringMatching(/pictures/) as string });
});
