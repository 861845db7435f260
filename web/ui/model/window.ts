/** Which items of a long list are near the screen, from heights that are known or guessed. Pure arithmetic. */

export const GUESSED_HEIGHT = 180;

export type Span = { start: number; end: number; above: number; below: number };

/**
 * The items that meet `top - margin` … `top + view + margin`, and the room that stands for those before and after.
 */
export function spanAround(heights: readonly number[], top: number, view: number, margin: number): Span {
  const from = top - margin;
  const to = top + view + margin;
  let at = 0;
  let above = 0;
  while (at < heights.length && above + (heights[at] ?? 0) < from) {
    above += heights[at] ?? 0;
    at += 1;
  }
  const start = at;
  let reached = above;
  while (at < heights.length && reached < to) {
    reached += heights[at] ?? 0;
    at += 1;
  }
  let below = 0;
  for (let rest = at; rest < heights.length; rest += 1) below += heights[rest] ?? 0;
  return { start, end: at, above, below };
}
