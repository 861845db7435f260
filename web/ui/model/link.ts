/**
 * When to connect, to wait, to ask whether the host still lives, and what to tell the person meanwhile.
 * A state machine: time is an argument, the socket is somebody else's.
 */

/** The first wait after a lost link, and the longest. */
export const FIRST_WAIT_MS = 250;
export const LONGEST_WAIT_MS = 5_000;
/** How often a quiet link is asked, and how long the answer may take. */
export const PING_EVERY_MS = 15_000;
export const PONG_WITHIN_MS = 10_000;
/** How long a link may take to open and to be welcomed. */
export const OPEN_WITHIN_MS = 10_000;
/** After so many failures in a row we ask whether we are let in at all. */
export const CHECK_AFTER_RETRIES = 3;
/** Back from a sleep a link is asked at once, and given this long. */
export const WAKE_PONG_WITHIN_MS = 3_000;

export type LinkPhase =
  /** A link is being opened, or is open and not welcomed yet. */
  | "connecting"
  /** Welcomed: what is said arrives. */
  | "online"
  /** The last try failed; the next comes at `retryAt`. */
  | "waiting"
  /** The host lives but does not know this browser. */
  | "locked";

export type LinkInput =
  | { type: "start" }
  | { type: "opened" }
  | { type: "welcomed" }
  | { type: "closed" }
  | { type: "pong"; n: number }
  /** The page came back, or the network did: do not wait any longer. */
  | { type: "wake" }
  /** The model wants a fresh link. */
  | { type: "renew" }
  | { type: "checked"; letIn: boolean }
  | { type: "tick" };

export type LinkOutput =
  { type: "open" } | { type: "close" } | { type: "hello" } | { type: "ping"; n: number } | { type: "check" };

export class LinkMachine {
  phase: LinkPhase = "waiting";
  /** Failed tries since the last welcome. */
  retries = 0;
  retryAt: number | null = null;
  private deadline: number | null = null;
  private pingAt: number | null = null;
  private pings = 0;
  private awaited: number | null = null;

  /** `chance` is from 0 to 1 and spreads the tries of many pages. */
  constructor(private readonly chance: () => number) {}

  handle(now: number, input: LinkInput): LinkOutput[] {
    switch (input.type) {
      case "start":
        return this.connect(now);
      case "opened":
        return this.phase === "connecting" ? [{ type: "hello" }] : [];
      case "welcomed":
        if (this.phase !== "connecting") return [];
        this.phase = "online";
        this.retries = 0;
        this.deadline = null;
        this.awaited = null;
        this.pingAt = now + PING_EVERY_MS;
        return [];
      case "closed":
        return this.phase === "connecting" || this.phase === "online" ? this.lost(now) : [];
      case "pong":
        if (this.phase !== "online" || input.n !== this.awaited) return [];
        this.awaited = null;
        this.deadline = null;
        this.pingAt = now + PING_EVERY_MS;
        return [];
      case "wake":
        return this.wake(now);
      case "renew":
        return [{ type: "close" }, ...this.connect(now)];
      case "checked":
        return this.checked(input.letIn);
      case "tick":
        return this.tick(now);
    }
  }

  /** When `tick` is due next. */
  nextTick(): number | null {
    const times = [this.retryAt, this.deadline, this.pingAt].filter((time) => time !== null);
    return times.length > 0 ? Math.min(...times) : null;
  }

  private connect(now: number): LinkOutput[] {
    this.phase = "connecting";
    this.retryAt = null;
    this.pingAt = null;
    this.awaited = null;
    this.deadline = now + OPEN_WITHIN_MS;
    return [{ type: "open" }];
  }

  private lost(now: number): LinkOutput[] {
    this.retries += 1;
    const wait = Math.min(FIRST_WAIT_MS * 2 ** (this.retries - 1), LONGEST_WAIT_MS);
    this.phase = "waiting";
    this.deadline = null;
    this.pingAt = null;
    this.awaited = null;
    this.retryAt = now + wait * (0.75 + this.chance() / 2);
    return this.retries % CHECK_AFTER_RETRIES === 0 ? [{ type: "check" }] : [];
  }

  private wake(now: number): LinkOutput[] {
    if (this.phase === "waiting" || this.phase === "locked") return this.connect(now);
    if (this.phase !== "online") return [];
    if (this.awaited === null) return this.ping(now, WAKE_PONG_WITHIN_MS);
    // Whoever slept may have slept past the answer, which is here and was not looked at yet.
    if (this.deadline !== null && now >= this.deadline) this.deadline = now + WAKE_PONG_WITHIN_MS;
    return [];
  }

  private ping(now: number, within: number): LinkOutput[] {
    this.pings += 1;
    this.awaited = this.pings;
    this.pingAt = null;
    this.deadline = now + within;
    return [{ type: "ping", n: this.pings }];
  }

  private checked(letIn: boolean): LinkOutput[] {
    if (this.phase !== "waiting" || letIn) return [];
    this.phase = "locked";
    this.retryAt = null;
    return [];
  }

  private tick(now: number): LinkOutput[] {
    if (this.phase === "waiting" && this.retryAt !== null && now >= this.retryAt) return this.connect(now);
    if (this.deadline !== null && now >= this.deadline) return [{ type: "close" }, ...this.lost(now)];
    if (this.phase === "online" && this.pingAt !== null && now >= this.pingAt)
      return this.ping(now, PONG_WITHIN_MS);
    return [];
  }
}
