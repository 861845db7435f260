/** Things that real agents say, for scripts: calls, questions, options, commands, logs. Made up, but of their shapes. */
import type { Approval, Body, Image, ToolCall } from "../../../ui/wire";
import type { Line } from "./script";

const before = Array.from({ length: 40 }, (_, at) => `    step(${String(at + 1)});`).join("\n") + "\n";
const after = before
  .replace("step(7)", "step(7, Lines::Kept)")
  .replace("    step(20);\n", "")
  .replace("step(30);", "step(30);\n    flush();");

export const call = (id: string, more: Partial<ToolCall> = {}): Body => ({
  type: "toolCall",
  call: { id, title: id, status: "completed", ...more },
});

export const edit = (id: string, more: Partial<ToolCall> = {}): Body =>
  call(id, {
    title: "Edit src/parser.rs",
    kind: "edit",
    locations: [{ path: "src/parser.rs", line: 7 }],
    content: [{ type: "diff", path: "src/parser.rs", old: before, new: after }],
    ...more,
  });

/** A command that the host runs for a call. */
export const running: Body[] = [
  call("run", {
    title: "cargo test -p parser",
    kind: "execute",
    status: "running",
    content: [{ type: "terminal", terminal: "x1" }],
  }),
  {
    type: "executionStarted",
    execution: {
      id: "x1",
      kind: "command",
      title: "cargo test -p parser",
      command: "cargo test -p parser",
      cwd: "/home/me/project",
      digest: "5f2c8a6be1d04c37",
    },
  },
  {
    type: "executionOutput",
    execution: "x1",
    text: "\u001b[1;32m   Compiling\u001b[0m parser v0.1.0\ntest keeps_empty_lines ... \u001b[32mok\u001b[0m\n",
  },
];

export const question = (more: Partial<Approval> = {}): Body => ({
  type: "approvalAsked",
  approval: {
    id: "q",
    kind: "edit",
    title: "Edit src/parser.rs",
    path: "src/parser.rs",
    diff: "--- a/src/parser.rs\n+++ b/src/parser.rs\n@@ -6,3 +6,3 @@ fn parse() {\n     step(6);\n-    step(7);\n+    step(7, Lines::Kept);\n     step(8);\n",
    severity: "medium",
    reason: "The agent asks before it changes a file.",
    digest: "0123456789abcdef0123456789abcdef",
    options: [
      { id: "yes", name: "Yes", kind: "allow_once" },
      { id: "all", name: "Yes, and allow all edits of this session", kind: "allow_always" },
      { id: "auto", name: "Yes, and go on without asking", kind: "allow_always" },
      { id: "no", name: "No, and say what to do instead", kind: "reject_once" },
    ],
    ...more,
  },
});

/** A command that the host would run, as it asks about it. */
export const command = (more: Partial<Approval> = {}): Body => ({
  type: "approvalAsked",
  approval: {
    id: "a1",
    kind: "command",
    title: "cargo test -p parser",
    command: "cargo test -p parser -- --nocapture",
    cwd: "/home/me/project",
    severity: "medium",
    reason: "it builds and runs code of the workspace\nit may write below target/",
    digest: "5f2c8a6be1d04c37aa5f2c8a6be1d04c",
    editable: true,
    containment: { type: "works", by: "bubblewrap 0.11.0" },
    rule: {
      type: "command",
      program: "/usr/bin/cargo",
      args: ["test", "-p", "parser", "--", "--nocapture"].map((arg) => ({ type: "is" as const, arg })),
      cwd: "/home/me/project",
    },
    ...more,
  },
});

/** A change of a file that the host would make, line by line. */
export const change = (more: Partial<Approval> = {}): Body => ({
  type: "approvalAsked",
  approval: {
    id: "a2",
    kind: "edit",
    title: "Edit src/parser.rs",
    path: "src/parser.rs",
    severity: "low",
    reason: "the file matches the sensitive pattern `src/parser.rs`",
    digest: "0123456789abcdef0123456789abcdef",
    change: {
      hunks: [
        {
          oldStart: 5,
          newStart: 5,
          lines: [
            { type: "same", text: "fn parse(text: &str) -> Vec<Line> {" },
            {
              type: "removed",
              text: "    text.lines().filter(|line| !line.is_empty()).map(Line::new).collect()",
            },
            { type: "added", text: "    // Empty lines count, too: the numbers must fit the file." },
            { type: "added", text: "    text.lines().map(Line::new).collect()" },
            { type: "same", text: "}" },
          ],
        },
        {
          oldStart: 40,
          newStart: 41,
          lines: [
            { type: "same", text: "#[test]" },
            { type: "removed", text: "fn drops_empty_lines() {" },
            { type: "added", text: "fn keeps_empty_lines() {" },
            { type: "removed", text: '    assert_eq!(parse("a\\n\\nb").len(), 2);' },
            { type: "added", text: '    assert_eq!(parse("a\\n\\nb").len(), 3);' },
            { type: "same", text: "}" },
          ],
        },
      ],
      added: 4,
      removed: 3,
      leftOut: 0,
    },
    ...more,
  },
});

export const options = (model = "large"): Line => ({
  type: "optionsChanged",
  loose: true,
  options: [
    {
      id: "model",
      name: "Model",
      category: "model",
      value: model,
      choices: [
        { value: "large", name: "Large 5", description: "For what is hard", group: "Newest" },
        { value: "small", name: "Small 5", group: "Newest" },
        { value: "old", name: "Large 4", group: "Older" },
      ],
    },
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      value: "ask",
      choices: [
        { value: "ask", name: "Always ask" },
        { value: "plan", name: "Plan only" },
      ],
    },
    {
      id: "effort",
      name: "Thinking",
      category: "thought_level",
      value: "high",
      choices: [
        { value: "high", name: "High" },
        { value: "low", name: "Low" },
      ],
    },
    {
      id: "web",
      name: "Web search",
      value: "true",
      choices: [
        { value: "true", name: "true" },
        { value: "false", name: "false" },
      ],
    },
  ],
});

export const usage: Body = {
  type: "usage",
  used: 48_200,
  size: 200_000,
  cost: { amount: 0.127, currency: "USD" },
};

export const plan: Body = {
  type: "plan",
  entries: [
    { content: "Read the parser", status: "completed", priority: "high" },
    { content: "Keep empty lines", status: "in_progress", priority: "medium" },
    { content: "Write a test", status: "pending", priority: "low" },
  ],
};

export const commands = (count: number): Line => ({
  type: "commandsChanged",
  loose: true,
  commands: [
    { name: "review", description: "Looks at the change that is not committed yet", hint: "[path]" },
    ...Array.from({ length: count }, (_, at) => ({
      name: `skill:${String(at)}`,
      description: `Does the thing number ${String(at)}. ${"It does it well. ".repeat(12)}`,
    })),
  ],
});

export const signIn: Line = {
  type: "signInNeeded",
  loose: true,
  message: "sign in before the first prompt",
  methods: [
    { id: "browser", name: "Sign in with your account", by: "agent", todo: "a page opens in your browser" },
    {
      id: "login",
      name: "Sign in from a terminal",
      description: "Asks for a code there",
      by: "terminal",
      todo: "run `claude /login` in a terminal, then try again",
    },
    {
      id: "key",
      name: "Use a key",
      by: "variable",
      todo: 'add `env = { MODEL_KEY = "…" }` in `[agents.claude]` of the configuration, then start the agent again',
    },
  ],
};

/** Ten by ten points, red. */
export const picture: Image = {
  mime: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
};

export const noise = (count: number): Body[] =>
  Array.from({ length: count }, (_, at) => ({
    type: "log",
    level: "stderr",
    message: `2026-11-15T20:00:00Z  INFO session: heartbeat ${String(at)}`,
  }));
