import { expect, it } from "vitest";
import { spanAround } from "./window";

it("what is near the screen is drawn, the rest is room", () => {
  const heights = Array.from({ length: 10_000 }, () => 100);
  expect(spanAround(heights, 500_000, 800, 400)).toEqual({
    start: 4_995,
    end: 5_012,
    above: 499_500,
    below: 498_800,
  });
});

it("the room and what is drawn add up to the whole", () => {
  const heights = Array.from({ length: 500 }, (_, at) => 20 + ((at * 37) % 300));
  const all = heights.reduce((sum, height) => sum + height, 0);
  for (let top = 0; top < all; top += 997) {
    const { start, end, above, below } = spanAround(heights, top, 700, 300);
    const drawn = heights.slice(start, end).reduce((sum, height) => sum + height, 0);
    expect(above + drawn + below).toBe(all);
    expect(above).toBeLessThanOrEqual(Math.max(0, top));
    expect(above + drawn).toBeGreaterThanOrEqual(Math.min(all, top + 700));
  }
});

it("nothing is nothing", () => {
  expect(spanAround([], 0, 800, 400)).toEqual({ start: 0, end: 0, above: 0, below: 0 });
});
