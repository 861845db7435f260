/** What the person chose for this browser. Holds choices, no state of the conversation. */
import type { Shelf } from "./keep";

export type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export class Prefs {
  constructor(
    private readonly shelf: Shelf,
    private readonly root: HTMLElement,
  ) {
    this.apply();
  }

  get theme(): Theme {
    const kept = this.shelf.get("theme");
    return THEMES.find((theme) => theme === kept) ?? "system";
  }

  set theme(theme: Theme) {
    this.shelf.put("theme", theme);
    this.apply();
  }

  /** The next of the three, for one button. */
  turn(): void {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] ?? "system";
  }

  get sidebar(): boolean {
    return this.shelf.get("sidebar") !== "closed";
  }

  set sidebar(open: boolean) {
    this.shelf.put("sidebar", open ? "open" : "closed");
  }

  private apply(): void {
    this.root.dataset["theme"] = this.theme;
  }
}
