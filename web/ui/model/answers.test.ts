import { expect, it } from "vitest";
import type { Approval } from "../wire";
import { answersOf, clock, reasonsOf } from "./answers";

const approval = (more: Partial<Approval> = {}): Approval => ({
  id: "a1",
  kind: "command",
  title: "ls",
  command: "ls",
  severity: "medium",
  reason: "it runs a command",
  ...more,
});
const rule = { type: "command", program: "/bin/ls", args: [], cwd: "/w" } as const;
const open = (choices: ReturnType<typeof answersOf>) =>
  choices.filter(({ off }) => off === null).map(({ decision }) => decision);

it("a question has five answers, each with its key", () => {
  expect(
    answersOf(approval({ rule: { ...rule, args: [] } })).map(({ decision, hint, keys, off }) => [
      decision,
      hint,
      keys,
      off,
    ]),
  ).toEqual([
    ["allow_once", "A", ["a", "1"], null],
    ["allow_session", "S", ["s", "2"], null],
    ["allow_rule", "R", ["r", "3"], null],
    ["deny", "D", ["d", "escape", "4"], null],
    ["deny_stop", "X", ["x", "5"], null],
  ]);
});

it("what no rule can allow says so; what is critical is never remembered", () => {
  expect(answersOf(approval()).find(({ decision }) => decision === "allow_rule")?.off).toBe(
    "No rule can allow this",
  );
  expect(answersOf(approval({ severity: "critical" })).map(({ decision }) => decision)).toEqual([
    "allow_once",
    "deny",
    "deny_stop",
  ]);
});

it("an edited command is allowed once, if at all", () => {
  expect(open(answersOf(approval({ rule: { ...rule, args: [] } }), "edited"))).toEqual([
    "allow_once",
    "deny",
    "deny_stop",
  ]);
});

it("the agent's own answers stand instead of ours, by their numbers; an unknown one is never a yes", () => {
  const options = [
    { id: "y", name: "Yes", kind: "allow_once" as const },
    { id: "w", name: "Whatever", kind: "other" as const },
  ];
  const choices = answersOf(approval({ options }));
  expect(choices.map(({ decision, option, hint }) => [decision, option, hint])).toEqual([
    ["allow_once", "y", "1"],
    ["deny", "w", "2"],
    ["deny", undefined, "3"],
    ["deny_stop", undefined, "4"],
  ]);
  expect(choices[0]?.keys).toEqual(["a", "1"]);
});

it("time that is left is a clock", () => {
  expect([0, 900, 61_000, 3_725_000, -5].map(clock)).toEqual(["0:00", "0:01", "1:01", "1:02:05", "0:00"]);
});

it("reasons are one a line", () => {
  expect(reasonsOf("it deletes files\n- it leaves the workspace\n\n")).toEqual([
    "it deletes files",
    "it leaves the workspace",
  ]);
});
