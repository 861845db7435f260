/**
 * A host's side of the bench's WebSocket that says what a test wants: tools with names and words that no sane host would
 * have, and states that a real one passes in a moment.
 */
import type { BrowserContext, WebSocketRoute } from "playwright-core";

export type Heard = { type: string; requestId?: string } & Record<string, unknown>;
type Answer = Record<string, unknown>;

export class BenchScript {
  readonly heard: Heard[] = [];
  private readonly links = new Set<WebSocketRoute>();

  /** `answers` by the type of what is asked; what gives null is not answered. */
  constructor(private readonly answers: Record<string, (message: Heard) => Answer | null>) {}

  async at(context: BrowserContext): Promise<void> {
    await context.routeWebSocket(/\/ws\/tools$/, (link) => {
      this.links.add(link);
      link.onClose(() => this.links.delete(link));
      link.onMessage((data) => {
        const message = JSON.parse(String(data)) as Heard;
        this.heard.push(message);
        const answer = this.answers[message.type]?.(message) ?? null;
        if (answer) link.send(JSON.stringify({ ...answer, requestId: message.requestId }));
      });
    });
  }

  /** Says something that nobody asked for, or an answer that waited. */
  say(message: Answer): void {
    for (const link of this.links) link.send(JSON.stringify(message));
  }

  last(type: string): Heard | undefined {
    return this.heard.findLast((message) => message.type === type);
  }
}

/** Tools as a host has them, with every sort of field. */
export const TOOLS = [
  {
    type: "function",
    function: {
      name: "search_workspace",
      description:
        "Searches the files of the workspace for a regular expression.\nWhat Git ignores is left out.",
      parameters: {
        type: "object",
        properties: {
          pattern: { type: "string", description: "A regular expression" },
          glob: { type: "string", description: "Only files that match", default: "**/*" },
          limit: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
          ratio: { type: "number" },
          case: { enum: ["smart", "sensitive", "insensitive"], default: "smart" },
          hidden: { type: "boolean", default: false },
          types: { type: "array", items: { type: "string" }, description: "Such as rust, python" },
          context: {
            type: "object",
            description: "Lines around each match",
            properties: { before: { type: "integer" }, after: { type: "integer" } },
            required: ["before"],
          },
        },
        required: ["pattern"],
      },
    },
  },
  {
    type: "function",
    function: {
      name: "read_file",
      description: "Reads a file of text.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    },
  },
  {
    type: "custom",
    custom: { name: "apply_patch", description: "Applies a patch.", format: { type: "text" } },
  },
  { type: "local_shell" },
  { type: "web_search" },
];

const DAY = Date.now() - 60_000;

export const HISTORY = [
  {
    executionId: "h3",
    toolName: "run_terminal_command",
    parameters: { command: "cargo test" },
    sessionId: "2",
    startedAt: DAY,
    status: "done",
    success: false,
    error: { code: "TIMEOUT", message: "it took longer than 30000 ms and was ended" },
    duration: 30_004,
  },
  {
    executionId: "h2",
    toolName: "search_workspace",
    parameters: { pattern: "fn main", limit: 10 },
    sessionId: "2",
    startedAt: DAY - 600_000,
    status: "done",
    success: true,
    data: { matches: [{ path: "src/main.rs", line: 1, text: "fn main() {" }] },
    duration: 12,
  },
  {
    executionId: "h1",
    toolName: "read_file",
    parameters: { path: "README.md" },
    sessionId: "2",
    startedAt: DAY - 3_600_000,
    status: "open",
  },
];

export const calm = (): Record<string, (message: Heard) => Answer | null> => ({
  GET_TOOLS: () => ({ tools: TOOLS }),
  SUBSCRIBE_APPROVALS: () => ({ subscribed: true }),
  GET_TOOL_HISTORY: () => ({ history: HISTORY, before: "1.2.3" }),
  EXECUTE_TOOL: () => ({
    result: {
      success: true,
      data: {
        matches: Array.from({ length: 40 }, (_, at) => ({
          path: `src/part${String(at)}.rs`,
          line: at + 1,
          text: `fn part${String(at)}() -> bool {`,
        })),
        truncated: false,
      },
      duration: 23,
    },
  }),
});
