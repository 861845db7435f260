/**
 * Prompts that the host has not confirmed yet. Each keeps its name until the log shows it, so that sending it again
 * after a reload or a lost link is safe: the host runs no name twice. Knows no clock; what it keeps outlives the page.
 */

import type { Image } from "../wire";

/** What keeps entries over a reload. Keys are prompts' names. */
export interface Keep {
  load(): Map<string, string>;
  put(name: string, value: string): void;
  drop(name: string): void;
}

/** How a tab that the host does not know yet is to be opened. */
export type Opening = { agent?: string; workspace?: string };

export type Unsent = {
  name: string;
  tab: string;
  text: string;
  /** Pictures that go with it. */
  images: Image[];
  madeMs: number;
  /** Set for the first prompt of a new tab. */
  opening: Opening | null;
  /** Why it is not being sent; null while it is. */
  held: string | null;
};

/** An entry older than this is not sent by itself any more: a surprise helps nobody. */
export const STALE_MS = 10 * 60_000;
/** Entries that are kept; more than this nobody has written. */
export const MAX_UNSENT = 200;
/** Characters of pictures that are kept over a reload; a browser keeps only a few million of everything. */
export const MAX_KEPT_IMAGE_CHARS = 512 * 1024;
/** What is left of pictures that could not be kept. */
const LOST = "lost";

export class Outbox {
  version = 1;
  private readonly entries = new Map<string, Unsent>();
  /** Names that went out on the present link. */
  private readonly out = new Set<string>();

  constructor(
    private readonly keep: Keep,
    now: number,
  ) {
    const found = [...keep.load()].flatMap(([name, value]) => {
      const entry = parse(name, value);
      if (!entry) keep.drop(name);
      return entry ? [entry] : [];
    });
    found.sort((a, b) => a.madeMs - b.madeMs);
    for (const entry of found.slice(-MAX_UNSENT)) {
      if (now - entry.madeMs > STALE_MS)
        entry.held ??= "It was written a while ago and never reached the host.";
      this.entries.set(entry.name, entry);
    }
  }

  add(entry: Unsent): void {
    this.entries.set(entry.name, entry);
    this.store(entry);
  }

  /** The host has it. */
  confirm(name: string): boolean {
    return this.remove(name);
  }

  /** The host does not want it; the words stay until the person says what becomes of them. */
  hold(name: string, why: string): Unsent | null {
    const entry = this.entries.get(name);
    if (!entry) return null;
    entry.held = why;
    this.out.delete(name);
    this.store(entry);
    return entry;
  }

  /** Send a held one after all. */
  release(name: string, now: number): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    entry.held = null;
    entry.madeMs = now;
    this.store(entry);
  }

  remove(name: string): boolean {
    this.out.delete(name);
    if (!this.entries.delete(name)) return false;
    this.keep.drop(name);
    this.version += 1;
    return true;
  }

  /** A new link knows nothing of what went out on the one before. */
  linkLost(): void {
    this.out.clear();
  }

  /** What is to go out on this link now, in order; each comes once per link. */
  due(): Unsent[] {
    const due = [...this.entries.values()].filter(
      (entry) => entry.held === null && !this.out.has(entry.name),
    );
    for (const entry of due) this.out.add(entry.name);
    return due;
  }

  of(tab: string): Unsent[] {
    return [...this.entries.values()].filter((entry) => entry.tab === tab);
  }

  tabs(): Set<string> {
    return new Set([...this.entries.values()].map((entry) => entry.tab));
  }

  get(name: string): Unsent | undefined {
    return this.entries.get(name);
  }

  private store(entry: Unsent): void {
    const chars = entry.images.reduce((sum, image) => sum + image.data.length, 0);
    const images = chars > MAX_KEPT_IMAGE_CHARS ? LOST : entry.images;
    this.keep.put(entry.name, JSON.stringify({ ...entry, images }));
    this.version += 1;
  }
}

/** What was kept may have been written by another version, or by nobody we know. */
function parse(name: string, value: string): Unsent | null {
  try {
    const raw = JSON.parse(value) as (Omit<Partial<Unsent>, "images"> & { images?: unknown }) | null;
    if (!raw || typeof raw.tab !== "string" || typeof raw.text !== "string" || typeof raw.madeMs !== "number")
      return null;
    const images = Array.isArray(raw.images) ? raw.images.filter(isImage) : [];
    // Without its pictures it is not what was written: a person must look at it.
    const lost = raw.images === LOST ? "Its pictures were too large to be kept over the reload." : null;
    const opening = raw.opening && typeof raw.opening === "object" ? raw.opening : null;
    return {
      name,
      tab: raw.tab,
      text: raw.text,
      images,
      madeMs: raw.madeMs,
      opening,
      held: typeof raw.held === "string" ? raw.held : lost,
    };
  } catch {
    return null;
  }
}

function isImage(raw: unknown): raw is Image {
  const image = raw as Partial<Image> | null;
  return typeof image === "object" && typeof image?.mime === "string" && typeof image.data === "string";
}
