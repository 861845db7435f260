import { expect, it } from "vitest";
import { allHeldIn, heldIn, ruleWords, stillAsked } from "./rules";

it("a rule says what, exactly, and where", () => {
  expect(
    ruleWords({
      type: "command",
      program: "/usr/bin/git",
      args: [
        { type: "is", arg: "log --all" },
        { type: "is", arg: "it's" },
        { type: "any" },
        { type: "rest" },
      ],
      cwd: "/w",
    }),
  ).toEqual({
    does: "run",
    exact: "/usr/bin/git 'log --all' 'it'\\''s' ‹any word› ‹anything›",
    where: "in /w and below",
  });
  expect(ruleWords({ type: "edit", glob: "docs/**" }).exact).toBe("docs/**");
  expect(ruleWords({ type: "tool", tool: "navigate" }).exact).toBe("navigate");
});

it("whatever is set, what is critical is asked", () => {
  for (const autoCommands of [true, false])
    for (const autoEdits of [true, false])
      expect(stillAsked({ mode: "agent", autoCommands, autoEdits }).at(-1)).toMatch(/critical is asked/);
  expect(stillAsked({ mode: "plan", autoCommands: true, autoEdits: true })).toHaveLength(1);
  expect(stillAsked({ mode: "edit", autoCommands: true, autoEdits: true }).at(-1)).toBe(
    "Commands are refused.",
  );
});

it("what is not held in is said in capitals", () => {
  expect(heldIn({ type: "works", by: "bubblewrap 0.8.0" })).toEqual({
    good: true,
    words: "Runs contained: bubblewrap 0.8.0",
  });
  expect(heldIn({ type: "none", reason: "no bwrap" })).toEqual({
    good: false,
    words: "NOT contained: no bwrap",
  });
  expect(allHeldIn({ type: "missing", reason: "no bwrap" }).good).toBe(false);
});
