/**
 * The link of the tool bench: the public dialect `tools` over a WebSocket of its own. Asks under a name of its own and gives
 * each answer to whoever asked; comes back by itself when it is lost. Knows nothing of tools.
 */
import { isObject } from "../model/schema";
import { SUBPROTOCOL } from "./websocket";

export type ToolsMessage = { type: string } & Record<string, unknown>;
export type ToolsAnswer = Record<string, unknown>;

export interface ToolsSocket {
  send(text: string): void;
  close(): void;
}

export interface ToolsEvents {
  opened(): void;
  text(text: string): void;
  /** Comes once, also if it never opened. */
  closed(): void;
}

export type OpenTools = (on: ToolsEvents) => ToolsSocket;

/** The link was lost before the answer came. */
export class LinkLost extends Error {
  constructor() {
    super("the link to the host was lost before the answer came");
  }
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Sockets to the host that served this page. */
export function toolSockets(place: Location): OpenTools {
  const scheme = place.protocol === "https:" ? "wss:" : "ws:";
  const url = `${scheme}//${place.host}/ws/tools`;
  return (on) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    socket.addEventListener("open", () => {
      on.opened();
    });
    socket.addEventListener("message", (event) => {
      if (typeof event.data === "string") on.text(event.data);
    });
    socket.addEventListener("close", () => {
      on.closed();
    });
    return socket;
  };
}

export type ToolsUser = {
  /** A fresh link is there: whatever the last one knew must be asked for again. */
  opened: () => void;
  /** Something came that nobody asked for. */
  unasked: (message: ToolsAnswer) => void;
  changed: () => void;
};

export class ToolsLink {
  online = false;
  private socket: ToolsSocket | null = null;
  private wanted = false;
  private tries = 0;
  private count = 0;
  private cancelWait: () => void = () => undefined;
  private readonly open = new Map<
    string,
    { done: (answer: ToolsAnswer) => void; lost: (why: LinkLost) => void }
  >();

  constructor(
    private readonly sockets: OpenTools,
    private readonly later: (run: () => void, ms: number) => () => void,
    private readonly user: ToolsUser,
  ) {}

  /** Opens a link, and keeps one open from now on. */
  start(): void {
    if (this.wanted) return;
    this.wanted = true;
    this.connect();
  }

  /** Lets the link go until it is wanted again. */
  stop(): void {
    this.wanted = false;
    this.cancelWait();
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.lost();
  }

  /** The network is back: waits no longer. */
  wake(): void {
    if (!this.wanted || this.socket) return;
    this.cancelWait();
    this.connect();
  }

  request(message: ToolsMessage): Promise<ToolsAnswer> {
    const { socket } = this;
    if (!socket || !this.online) return Promise.reject(new LinkLost());
    this.count += 1;
    const requestId = `p${String(this.count)}`;
    return new Promise((done, lost) => {
      this.open.set(requestId, { done, lost });
      socket.send(JSON.stringify({ ...message, requestId }));
    });
  }

  private connect(): void {
    const socket: ToolsSocket = this.sockets({
      opened: () => {
        if (this.socket !== socket) return;
        this.online = true;
        this.tries = 0;
        this.user.opened();
        this.user.changed();
      },
      text: (text) => {
        if (this.socket === socket) this.take(text);
      },
      closed: () => {
        if (this.socket !== socket) return;
        this.socket = null;
        this.lost();
        if (!this.wanted) return;
        const wait = Math.min(FIRST_WAIT_MS * 2 ** this.tries, LONGEST_WAIT_MS);
        this.tries += 1;
        this.cancelWait = this.later(() => {
          this.connect();
        }, wait);
      },
    });
    this.socket = socket;
  }

  private lost(): void {
    this.online = false;
    const open = [...this.open.values()];
    this.open.clear();
    for (const { lost } of open) lost(new LinkLost());
    this.user.changed();
  }

  private take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (!isObject(message)) return;
    const id = message["requestId"];
    const waiting = typeof id === "string" ? this.open.get(id) : undefined;
    if (waiting && typeof id === "string") {
      this.open.delete(id);
      waiting.done(message);
    } else this.user.unasked(message);
  }
}
