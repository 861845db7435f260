/** What carries frames between the page and the host. A WebSocket now; a webview's or panel's port is the same shape. */
import type { FromView, ToView } from "../wire";

export interface Link {
  send(frame: FromView): void;
  close(): void;
}

export interface LinkEvents {
  opened(): void;
  frame(frame: ToView): void;
  /** Comes once, also if the link never opened. */
  closed(): void;
}

/** Opens a fresh link. Nothing of `on` is called before this returns. */
export type OpenLink = (on: LinkEvents) => Link;
