/** The wire between page and host goes away in the ways that wires do, and comes back. */
import { expect, test } from "vitest";
import { logOf } from "./stage/log";
import { expectSame, slow } from "./stage/same";
import { useStage } from "./stage/stage";
import { words } from "./stage/window";

const stage = useStage({ wired: true });

test("a window that was offline for a while has everything when it is back", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 10");
  await window.says(1, "word-2");
  await window.context.setOffline(true);
  stage.wire.cut();
  await window.notOnline();
  const said = await logOf(stage.host, 1);
  stage.wire.mend();
  await window.context.setOffline(false);
  await window.online();
  expect(words(said[0]?.text ?? "")).toBe(slow(10));
  await expectSame(window, said);
});

test("a wire that is cut again and again costs no word", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 16");
  for (const word of ["word-2", "word-6", "word-10"]) {
    await window.says(1, word);
    stage.wire.cut();
    await window.notOnline();
    stage.wire.mend();
    await window.online();
  }
  const said = await logOf(stage.host, 1);
  expect(words(said[0]?.text ?? "")).toBe(slow(16));
  await expectSame(window, said);
});

test("a wire that died without a word is noticed, and what was missed comes over a new one", async () => {
  const window = await stage.window();
  await window.prompt("demo: slow 6");
  await window.says(1, "word-2");
  stage.wire.die();
  const said = await logOf(stage.host, 1);
  // The browser's own sign that the network changed; without it the page asks by itself, only later.
  await window.context.setOffline(true);
  await window.context.setOffline(false);
  await window.notOnline();
  stage.wire.mend();
  await window.online();
  await expectSame(window, said);
});

test("a prompt that was typed offline arrives once", async () => {
  const window = await stage.window();
  stage.wire.cut();
  await window.notOnline();
  await window.prompt("demo: echo typed offline");
  stage.wire.mend();
  await window.online();
  const said = await logOf(stage.host, 1);
  expect(said.map((turn) => turn.text)).toEqual(["typed offline"]);
  await expectSame(window, said);
});
