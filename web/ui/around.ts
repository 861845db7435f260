/** What the page needs from around it, and what it says besides the conversation. Types only. */
import type { Drafts } from "./edges/drafts";
import type { Prefs } from "./edges/prefs";
import type { OpenTools } from "./edges/tools";
import type { LinkAround } from "./hostlink";
import type { NewTabs } from "./model/newtabs";
import type { Keep } from "./model/outbox";

export type Toast = {
  id: number;
  text: string;
  tone: "problem" | "note";
  action: { label: string; run: () => void } | null;
};

/** What the page needs from around it. */
export type Around = LinkAround & {
  openTools: OpenTools;
  keep: Keep;
  newTabs: NewTabs;
  drafts: Drafts;
  prefs: Prefs;
  newId: () => string;
  /** Runs `draw` at the next frame, or soon if the page is hidden. */
  frame: (draw: () => void) => void;
  version: string;
};
