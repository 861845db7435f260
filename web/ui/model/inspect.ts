/**
 * The recorded wire of a session, as the page holds it: the last entries, which of them are shown, and how busy each
 * side was. Pure; bounded.
 */

export type Side = "agent" | "view" | "host";
export type Direction = "in" | "out" | "note";
export type Verdict = "ok" | "noise" | "refused" | "late";

export type WireEntry = {
  n: number;
  at_ms: number;
  side: Side;
  peer: string;
  dir: Direction;
  dialect: string;
  name: string;
  bytes: number;
  verdict: Verdict;
  why?: string;
  events?: { from: number; to: number; kinds: string[] };
  raw?: string;
  cut?: boolean;
};

export type Filter = {
  side: Side | "";
  dir: Direction | "";
  verdict: Verdict | "";
  name: string;
  text: string;
};

export const NO_FILTER: Filter = { side: "", dir: "", verdict: "", name: "", text: "" };
/** Entries that the page keeps; the host has more. */
export const MAX_ENTRIES = 5000;
/** What the entries that the page keeps may weigh together, in characters. */
export const MAX_CHARS = 24 * 1024 * 1024;
/** Nothing on any wire for so long, between two messages, is a pause worth seeing. */
export const PAUSE_MS = 3000;

/** One column of the picture: how many messages each side had in that time. */
export type Column = { from: number; agent: number; view: number; wrong: number };
export type Pause = { from: number; to: number };
export type Picture = { from: number; to: number; columns: Column[]; pauses: Pause[]; most: number };

export class WireRecord {
  entries: WireEntry[] = [];
  /** Entries that were let go, since there were too many. */
  dropped = 0;
  recording: boolean | null = null;
  private chars = 0;
  private rest = "";

  get last(): number {
    return this.entries.at(-1)?.n ?? 0;
  }

  /** Takes a piece of the host's answer, cut anywhere; whether anything in it was new. */
  take(piece: string): boolean {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    let news = false;
    for (const line of lines) if (line !== "" && this.line(line)) news = true;
    return news;
  }

  /** What was begun belongs to an answer that is over. */
  restart(): void {
    this.rest = "";
  }

  private line(line: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return false;
    }
    if (typeof value !== "object" || value === null) return false;
    if ("recording" in value && typeof value.recording === "boolean") {
      this.recording = value.recording;
      return true;
    }
    const entry = value as WireEntry;
    if (typeof entry.n !== "number" || entry.n <= this.last) return false;
    if (entry.side === "host" && entry.name === "recording on") this.recording = true;
    if (entry.side === "host" && entry.name === "recording off") this.recording = false;
    this.entries.push(entry);
    this.chars += weight(entry);
    while (this.entries.length > MAX_ENTRIES || (this.chars > MAX_CHARS && this.entries.length > 1)) {
      const oldest = this.entries.shift();
      if (oldest) this.chars -= weight(oldest);
      this.dropped += 1;
    }
    return true;
  }

  /** The entries that the filter lets through. */
  shown(filter: Filter): WireEntry[] {
    const text = filter.text.toLowerCase();
    return this.entries.filter(
      (entry) =>
        (filter.side === "" || entry.side === filter.side) &&
        (filter.dir === "" || entry.dir === filter.dir) &&
        (filter.verdict === "" || entry.verdict === filter.verdict) &&
        (filter.name === "" || entry.name === filter.name) &&
        (text === "" ||
          `${entry.name} ${entry.peer} ${entry.why ?? ""} ${entry.raw ?? ""}`.toLowerCase().includes(text)),
    );
  }

  /** Every name that occurs, the most frequent first. */
  names(): string[] {
    const counts = new Map<string, number>();
    for (const { name } of this.entries) if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts]
      .sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0]))
      .map(([name]) => name)
      .slice(0, 100);
  }
}

function weight(entry: WireEntry): number {
  return (entry.raw?.length ?? 0) + (entry.why?.length ?? 0) + 200;
}

/** How busy each side was over the last `span` milliseconds of the entries, or over all of them if it is 0. */
export function picture(entries: readonly WireEntry[], span: number, columns: number): Picture {
  const to = entries.at(-1)?.at_ms ?? 0;
  const first = entries[0]?.at_ms ?? 0;
  const from = span > 0 ? Math.max(first, to - span) : first;
  const width = Math.max(1, (to - from) / columns);
  const made: Column[] = Array.from({ length: columns }, (_, at) => ({
    from: from + at * width,
    agent: 0,
    view: 0,
    wrong: 0,
  }));
  const pauses: Pause[] = [];
  let before: number | null = null;
  let most = 1;
  for (const entry of entries) {
    if (entry.at_ms < from || entry.dir === "note") continue;
    const column = made[Math.min(columns - 1, Math.floor((entry.at_ms - from) / width))];
    if (!column) continue;
    if (entry.side === "agent") column.agent += 1;
    else column.view += 1;
    if (entry.verdict !== "ok") column.wrong += 1;
    most = Math.max(most, column.agent, column.view);
    if (before !== null && entry.at_ms - before >= PAUSE_MS) pauses.push({ from: before, to: entry.at_ms });
    before = Math.max(before ?? 0, entry.at_ms);
  }
  return { from, to, columns: made, pauses, most };
}

/** The events of an entry in a few characters. */
export function eventsOf(entry: WireEntry): string {
  if (!entry.events) return "";
  const { from, to } = entry.events;
  return from === to ? `#${String(from)}` : `#${String(from)}–${String(to)}`;
}

/** A time of day, to the millisecond. */
export function clock(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** How long after the one before. */
export function delta(ms: number): string {
  if (ms < 10_000) return `+${String(Math.round(ms))} ms`;
  if (ms < 600_000) return `+${String(Math.round(ms / 1000))} s`;
  return `+${String(Math.round(ms / 60_000))} min`;
}

export function size(bytes: number): string {
  if (bytes < 10_000) return `${String(bytes)} B`;
  if (bytes < 10_000_000) return `${String(Math.floor(bytes / 1000))} kB`;
  return `${String(Math.floor(bytes / 1_000_000))} MB`;
}

/** A message laid out, if it is whole JSON; else as it is. */
export function laidOut(entry: WireEntry): string {
  const raw = entry.raw ?? "";
  if (entry.cut) return raw;
  try {
    return JSON.stringify(JSON.parse(raw) as unknown, null, 2);
  } catch {
    return raw;
  }
}
