import { expect, it } from "vitest";
import type { Body } from "../wire";
import { AgentSide, MAX_LINE_CHARS, MAX_LINES } from "./agentside";

function side(...bodies: Body[]): AgentSide {
  const agent = new AgentSide();
  for (const body of bodies) agent.take(body, 5);
  return agent;
}

const option = (id: string, category?: string) => ({
  id,
  name: id,
  value: "a",
  choices: [{ value: "a", name: "A" }],
  ...(category === undefined ? {} : { category }),
});

it("what can be set is the last list, what most agents have first", () => {
  const agent = side(
    { type: "optionsChanged", options: [option("old")] },
    {
      type: "optionsChanged",
      options: [option("x"), option("t", "thought_level"), option("m", "model"), option("mode", "mode")],
    },
  );
  expect(agent.options.map(({ id }) => id)).toEqual(["mode", "m", "t", "x"]);
});

it("commands and usage are replaced", () => {
  const agent = side(
    { type: "commandsChanged", commands: [{ name: "a", description: "" }] },
    { type: "commandsChanged", commands: [{ name: "b", description: "", hint: "what" }] },
    { type: "usage", used: 1, size: 10, cost: { amount: 0.5, currency: "USD" } },
    { type: "usage", used: 2, size: 10 },
  );
  expect(agent.commands.all.map(({ name }) => name)).toEqual(["b"]);
  expect(agent.usage).toEqual({ used: 2, size: 10, cost: null });
});

it("a sign-in is wanted until the agent speaks", () => {
  const wanted: Body = { type: "signInNeeded", message: "please", methods: [] };
  expect(side(wanted).signIn).toEqual({ message: "please", methods: [] });
  expect(side(wanted, { type: "log", level: "info", message: "still waiting" }).signIn).not.toBeNull();
  expect(side(wanted, { type: "text", text: "hello" }).signIn).toBeNull();
  expect(side(wanted, { type: "agentRestarted" }).signIn).toBeNull();
});

it("a flood of lines is bounded, and errors are counted", () => {
  const lines = Array.from({ length: 5_000 }, (): Body => ({
    type: "log",
    level: "stderr",
    message: "noise",
  }));
  const agent = side(
    ...lines,
    { type: "log", level: "error", message: "x".repeat(10_000) },
    { type: "log", level: "warn", message: "w" },
  );
  expect(agent.lines.length).toBeLessThanOrEqual(2 * MAX_LINES);
  expect([agent.total, agent.errors]).toEqual([5_002, 1]);
  expect(agent.lines.at(-2)?.text.length).toBe(MAX_LINE_CHARS + 1);
  expect(agent.lines.at(-1)).toEqual({ number: 5_002, level: "warn", text: "w", timeMs: 5 });
});
