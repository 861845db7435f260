/** The browser's storage, which may be full, forbidden or written by somebody else. Never throws. */
import type { Keep } from "../model/outbox";

const PREFIX = "switchboard.";

export class Shelf {
  private readonly memory = new Map<string, string>();

  /** `storage` is null where there is none; then things live as long as the page. */
  constructor(private readonly storage: Storage | null) {}

  get(key: string): string | null {
    try {
      return this.storage?.getItem(PREFIX + key) ?? this.memory.get(key) ?? null;
    } catch {
      return this.memory.get(key) ?? null;
    }
  }

  put(key: string, value: string): void {
    try {
      if (!this.storage) throw new Error("no storage");
      this.storage.setItem(PREFIX + key, value);
      this.memory.delete(key);
    } catch {
      this.memory.set(key, value);
    }
  }

  drop(key: string): void {
    this.memory.delete(key);
    try {
      this.storage?.removeItem(PREFIX + key);
    } catch {
      // What cannot be removed cannot be read either.
    }
  }

  /** Keys that begin with `start`, without our prefix. */
  keys(start: string): string[] {
    const keys = new Set([...this.memory.keys()].filter((key) => key.startsWith(start)));
    try {
      for (let at = 0; at < (this.storage?.length ?? 0); at += 1) {
        const key = this.storage?.key(at);
        if (key?.startsWith(PREFIX + start)) keys.add(key.slice(PREFIX.length));
      }
    } catch {
      // As above.
    }
    return [...keys];
  }
}

/** The browser's storage of that kind, or one that forgets. */
export function shelf(kind: "localStorage" | "sessionStorage"): Shelf {
  try {
    return new Shelf(window[kind]);
  } catch {
    return new Shelf(null);
  }
}

/** A key a prompt, so that two windows never write over each other's. */
export function outboxKeep(on: Shelf): Keep {
  const start = "unsent.";
  return {
    load: () => new Map(on.keys(start).map((key) => [key.slice(start.length), on.get(key) ?? ""])),
    put: (name, value) => {
      on.put(start + name, value);
    },
    drop: (name) => {
      on.drop(start + name);
    },
  };
}
