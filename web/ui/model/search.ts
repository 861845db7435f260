/**
 * Search in all that was said: what is looked for, what was found, and which of it is marked. Asks while the person types, after a
 * short rest, and drops answers to what nobody looks for any more. Knows no DOM and no clock.
 */
import type { FoundMessage, FoundSession, Role, SearchOrder, SearchQuery } from "../wire";
import { type Ask, type Reply, whyNot } from "./requests";

/** How long the person must rest before the host is asked. */
export const REST_MS = 120;
export const FIRST_LIMIT = 50;
/** The host gives no more than this at once. */
const MAX_LIMIT = 200;
/** What the host takes, in bytes of UTF-8; letters may have several. */
const MAX_BYTES = 1024;

export type Filters = {
  order: SearchOrder;
  agent: string;
  role: Role | "";
  path: string;
  /** Days, as a date field has them; empty for none. */
  since: string;
  until: string;
};

/** A message with the session that it stands in. */
export type Hit = { session: FoundSession; message: FoundMessage };

export type SearchAround = {
  ask: (what: Ask) => Promise<Reply>;
  later: (run: () => void, ms: number) => () => void;
  changed: () => void;
};

const NO_FILTERS: Filters = { order: "newest", agent: "", role: "", path: "", since: "", until: "" };

export class Search {
  text = "";
  filters: Filters = { ...NO_FILTERS };
  /** Null until the first answer to what is looked for now. */
  found: FoundSession[] | null = null;
  more = false;
  behind = 0;
  loading = false;
  problem = "";
  /** Which hit is marked; -1 for none. */
  marked = -1;
  /** Grows with every change. */
  version = 1;
  private limit = FIRST_LIMIT;
  private asked = 0;
  private takeBack: () => void = () => undefined;

  constructor(private readonly around: SearchAround) {}

  /** Whether results stand where the conversations stand else. */
  get active(): boolean {
    return this.text.trim() !== "";
  }

  /** How many filters narrow the search. */
  get narrowed(): number {
    const { agent, role, path, since, until } = this.filters;
    return [agent, role, path.trim(), since, until].filter((value) => value !== "").length;
  }

  get hits(): Hit[] {
    return (this.found ?? []).flatMap((session) => session.messages.map((message) => ({ session, message })));
  }

  get hit(): Hit | null {
    return this.hits[this.marked] ?? null;
  }

  type(text: string): void {
    this.text = text;
    this.begin();
  }

  filter(change: Partial<Filters>): void {
    this.filters = { ...this.filters, ...change };
    this.begin();
  }

  clearFilters(): void {
    this.filters = { ...NO_FILTERS };
    this.begin();
  }

  /** Back to the conversations; the filters stay. */
  clear(): void {
    this.type("");
  }

  loadMore(): void {
    this.limit = Math.min(MAX_LIMIT, this.limit + FIRST_LIMIT);
    void this.run();
  }

  /** More can be asked for. */
  get canLoadMore(): boolean {
    return this.more && this.limit < MAX_LIMIT;
  }

  /** Marks the next hit, or the one before; stays at the ends. */
  step(by: 1 | -1): void {
    const count = this.hits.length;
    if (count === 0) return;
    this.marked = Math.max(0, Math.min(count - 1, this.marked + by));
    this.changed();
  }

  /** A session is gone: so is what was found in it. */
  forget(session: number): void {
    if (!this.found?.some((found) => found.session === session)) return;
    this.found = this.found.filter((found) => found.session !== session);
    this.marked = Math.min(this.marked, this.hits.length - 1);
    this.changed();
  }

  /** The link is new: what was on its way is lost. */
  again(): void {
    if (this.active) void this.run();
  }

  private changed(): void {
    this.version += 1;
    this.around.changed();
  }

  private begin(): void {
    this.takeBack();
    this.limit = FIRST_LIMIT;
    if (!this.active) {
      this.asked += 1;
      this.found = null;
      this.more = false;
      this.behind = 0;
      this.marked = -1;
      this.problem = "";
      this.loading = false;
    } else {
      this.loading = true;
      this.takeBack = this.around.later(() => void this.run(), REST_MS);
    }
    this.changed();
  }

  private async run(): Promise<void> {
    this.asked += 1;
    const mine = this.asked;
    this.loading = true;
    this.changed();
    const reply = await this.around.ask({ type: "search", query: this.query() });
    // Meanwhile something else is looked for.
    if (mine !== this.asked) return;
    this.loading = false;
    if (reply.type === "found") {
      this.found = reply.sessions;
      this.more = reply.more;
      this.behind = reply.behind;
      this.problem = "";
      this.marked = Math.min(Math.max(0, this.marked), this.hits.length - 1);
    } else {
      this.found = null;
      this.problem = whyNot(reply);
    }
    this.changed();
  }

  private query(): SearchQuery {
    const { order, agent, role, path, since, until } = this.filters;
    const from = startOf(since);
    const to = startOf(until);
    return {
      text: within(this.text, MAX_BYTES),
      order,
      limit: this.limit,
      ...(agent === "" ? {} : { agent }),
      ...(role === "" ? {} : { role }),
      ...(path.trim() === "" ? {} : { path: within(path.trim(), MAX_BYTES) }),
      ...(from === null ? {} : { since: from }),
      // A day is over when the next one begins.
      ...(to === null ? {} : { until: nextDay(to) }),
    };
  }
}

/** The first moment of a day as a date field has it, where the person is. */
function startOf(day: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!parts) return null;
  const time = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])).getTime();
  return Number.isFinite(time) && time >= 0 ? time : null;
}

/** A day has 23 to 25 hours. */
function nextDay(start: number): number {
  const day = new Date(start);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime();
}

/** As many whole characters as fit. */
export function within(text: string, bytes: number): string {
  const pen = new TextEncoder();
  if (pen.encode(text).length <= bytes) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += pen.encode(character).length;
    if (used > bytes) break;
    kept += character;
  }
  return kept;
}
