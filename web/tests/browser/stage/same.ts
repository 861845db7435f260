/** The comparison that all is about: what stands on the page, and what stands in the log. */
import { expect } from "vitest";
import type { Said } from "./log";
import { type Window, words } from "./window";

/** Each turn of the log stands on the page, word for word, and in its order. */
export async function expectSame(window: Window, said: Said[]): Promise<void> {
  for (const [at, turn] of said.entries()) {
    await window.ended(at + 1);
    await expect
      .poll(async () => words(await window.answer(at + 1)), { timeout: 45_000 })
      .toBe(words(turn.text));
  }
}

/** The words of `demo: slow N`. */
export const slow = (count: number) => Array.from({ length: count }, (_, at) => `word-${at + 1}`).join(" ");
