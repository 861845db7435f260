/** What is being written and not sent, per tab. Survives a reload and the window's end. Keeps a bounded number. */
import type { Shelf } from "./keep";

export const MAX_DRAFTS = 50;
export const MAX_DRAFT_CHARS = 256 * 1024;

type Draft = { text: string; ms: number };

export class Drafts {
  constructor(
    private readonly shelf: Shelf,
    private readonly now: () => number,
  ) {}

  get(tab: string): string {
    return this.read(`draft.${tab}`)?.text ?? "";
  }

  put(tab: string, text: string): void {
    if (text === "") return this.drop(tab);
    const draft: Draft = { text: text.slice(0, MAX_DRAFT_CHARS), ms: this.now() };
    this.shelf.put(`draft.${tab}`, JSON.stringify(draft));
    this.trim();
  }

  drop(tab: string): void {
    this.shelf.drop(`draft.${tab}`);
  }

  private trim(): void {
    const keys = this.shelf.keys("draft.");
    if (keys.length <= MAX_DRAFTS) return;
    const byAge = keys.map((key) => ({ key, ms: this.read(key)?.ms ?? 0 })).sort((a, b) => a.ms - b.ms);
    for (const { key } of byAge.slice(0, keys.length - MAX_DRAFTS)) this.shelf.drop(key);
  }

  private read(key: string): Draft | null {
    try {
      const raw = JSON.parse(this.shelf.get(key) ?? "null") as Partial<Draft> | null;
      return raw && typeof raw.text === "string" && typeof raw.ms === "number"
        ? { text: raw.text, ms: raw.ms }
        : null;
    } catch {
      return null;
    }
  }
}
