/** Pictures of a state for people to look at, light and dark, wide and narrow; none of them may keep anybody out. */
import { join } from "node:path";
import { expect } from "vitest";
import { barriers } from "./axe";
import type { Window } from "./window";

export const SIZES = { wide: { width: 1200, height: 800 }, narrow: { width: 320, height: 700 } };

/**
 * A picture of each theme in each size, each without a barrier and without anything beyond the edge. `enter` brings the window
 * back into the state where another size has left it.
 */
export async function pictures(
  window: Window,
  name: string,
  folder: string,
  enter: (size: keyof typeof SIZES) => Promise<void> = async () => {},
): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    await window.page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    for (const size of ["wide", "narrow"] as const) {
      await window.page.setViewportSize(SIZES[size]);
      await enter(size);
      await window.page.screenshot({ path: join(folder, `${name}-${theme}-${size}.png`) });
      expect.soft(await barriers(window.page), `${name}, ${theme}, ${size}`).toEqual([]);
      const wide = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect.soft(wide, `${name}, ${theme}, ${size}: pixels beyond the edge`).toBeLessThanOrEqual(0);
    }
  }
}
