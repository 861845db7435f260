/**
 * What a session's agent has said of itself: what can be set, what can be typed after a slash, how full it is, how to sign
 * in, and its own log. The last word holds. Knows no DOM and no clock.
 */
import type { AgentOption, Body, Cost, LogLevel, SignInMethod } from "../wire";
import { CommandList } from "./commands";

/** Lines of the agent's log that are kept, and characters of one. The host's log has them whole. */
export const MAX_LINES = 2_000;
export const MAX_LINE_CHARS = 4_000;

export type LogLine = { number: number; level: LogLevel; text: string; timeMs: number };
export type Usage = { used: number; size: number; cost: Cost | null };
export type SignIn = { message: string; methods: SignInMethod[] };

/** Options that most agents have come first. */
const ORDER = ["mode", "model", "thought_level"];

export class AgentSide {
  options: AgentOption[] = [];
  commands = new CommandList([]);
  usage: Usage | null = null;
  /** Set while the agent waits for a person to sign in. */
  signIn: SignIn | null = null;
  /** The last lines of its log. */
  lines: LogLine[] = [];
  /** All lines that came, and those among them that say that something is wrong. */
  total = 0;
  errors = 0;

  take(body: Body, timeMs: number): void {
    switch (body.type) {
      case "optionsChanged":
        this.options = [...body.options].sort((a, b) => place(a) - place(b));
        this.signIn = null;
        return;
      case "commandsChanged":
        this.commands = new CommandList(body.commands);
        this.signIn = null;
        return;
      case "usage":
        this.usage = { used: body.used, size: body.size, cost: body.cost ?? null };
        return;
      case "signInNeeded":
        this.signIn = { message: body.message, methods: body.methods };
        return;
      case "log":
        return this.line(body.level, body.message, timeMs);
      // Whoever speaks is let in.
      case "text":
      case "thought":
      case "code":
      case "toolCall":
      case "agentRestarted":
      case "agentSessionRestored":
        this.signIn = null;
        return;
      default:
        return;
    }
  }

  private line(level: LogLevel, message: string, timeMs: number): void {
    this.total += 1;
    if (level === "error") this.errors += 1;
    const text = message.length > MAX_LINE_CHARS ? `${message.slice(0, MAX_LINE_CHARS)}…` : message;
    this.lines.push({ number: this.total, level, text, timeMs });
    // In large steps: a flood costs no more than its length.
    if (this.lines.length > 2 * MAX_LINES) this.lines = this.lines.slice(-MAX_LINES);
  }
}

function place(option: AgentOption): number {
  const at = ORDER.indexOf(option.category ?? "");
  return at < 0 ? ORDER.length : at;
}
