/** What is worth saying aloud or showing in the window's title: questions, ends, failures. Once each. */
import { revealed } from "../model/words";
import type { Page } from "../page";

export class News {
  private tab: string | null = null;
  private asked = new Set<string>();
  private ended = -1;

  /** What happened in the shown tab since the last time; null for nothing. */
  of(page: Page): string | null {
    const log = page.active === null ? undefined : page.model.log(page.active);
    if (!log) return null;
    const fresh = this.tab !== page.active;
    if (fresh) {
      this.tab = page.active;
      this.asked = new Set();
      this.ended = -1;
    }
    let said: string | null = null;
    const last = log.entries.findLast((entry) => entry.kind === "turn");
    if (last?.kind === "turn") {
      for (const piece of last.pieces) {
        if (piece.kind !== "approval" || piece.resolution !== null || this.asked.has(piece.approval.id))
          continue;
        this.asked.add(piece.approval.id);
        said = `Your answer is needed: ${revealed(piece.approval.title)}`;
      }
      if (last.state === "ended" && this.ended !== last.number) {
        this.ended = last.number;
        if (!fresh)
          said =
            last.outcome === "completed"
              ? "The answer is complete."
              : `The turn ended: ${last.outcome ?? ""}.`;
      }
    }
    return said;
  }

  title(page: Page): string {
    const sessions = page.model.tabs();
    const asks = sessions.filter((session) => session.status === "awaiting_approval").length;
    const runs = sessions.some((session) => session.status === "running");
    const mark = asks > 0 ? `(${String(asks)}!) ` : runs ? "● " : "";
    const name = page.session?.title ? `${revealed(page.session.title)} – ` : "";
    return `${mark}${name}Switchboard`;
  }
}
