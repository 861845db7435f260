/** Tabs of this window that the host does not know yet: it hears of them with their first prompt. */

export type NewTab = { agent?: string; workspace?: string };
export const MAX_NEW_TABS = 20;

/** Where they are kept over a reload. `shared` outlives the window. */
export interface NewTabKeep {
  load(): string | null;
  save(value: string): void;
  loadShared(): string | null;
  saveShared(tab: string | null): void;
}

export class NewTabs {
  private readonly tabs = new Map<string, NewTab>();

  constructor(private readonly keep: NewTabKeep) {
    try {
      const raw = JSON.parse(keep.load() ?? "[]") as unknown;
      if (!Array.isArray(raw)) return;
      for (const entry of raw.slice(0, MAX_NEW_TABS) as unknown[]) {
        if (!Array.isArray(entry) || typeof entry[0] !== "string") continue;
        const { agent, workspace } = (entry[1] ?? {}) as Record<string, unknown>;
        this.tabs.set(entry[0], {
          ...(typeof agent === "string" ? { agent } : {}),
          ...(typeof workspace === "string" ? { workspace } : {}),
        });
      }
    } catch {
      // Kept by somebody else; begin anew.
    }
  }

  all(): string[] {
    return [...this.tabs.keys()];
  }

  get(tab: string | null): NewTab | undefined {
    return tab === null ? undefined : this.tabs.get(tab);
  }

  add(tab: string, choice: NewTab): string {
    if (this.tabs.size >= MAX_NEW_TABS) {
      const [oldest] = this.tabs.keys();
      if (oldest !== undefined) this.tabs.delete(oldest);
    }
    this.tabs.set(tab, choice);
    this.save();
    return tab;
  }

  choose(tab: string, choice: NewTab): void {
    if (!this.tabs.has(tab)) return;
    this.tabs.set(tab, choice);
    this.save();
  }

  /** The one that is there, or else the one that a window before this one left with its draft, or a new one. */
  first(newId: () => string): string {
    const [there] = this.tabs.keys();
    if (there !== undefined) return there;
    const tab = this.keep.loadShared() ?? newId();
    this.keep.saveShared(tab);
    return this.add(tab, {});
  }

  drop(tab: string): void {
    if (!this.tabs.delete(tab)) return;
    if (this.keep.loadShared() === tab) this.keep.saveShared(null);
    this.save();
  }

  private save(): void {
    this.keep.save(JSON.stringify([...this.tabs]));
  }
}
