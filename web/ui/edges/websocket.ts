/** A link over a WebSocket, one JSON object a text frame. Decides nothing about when to connect. */
import type { FromView, ToView } from "../wire";
import type { Link, LinkEvents, OpenLink } from "./link";

export const SUBPROTOCOL = "switchboard.v1";

/** Links to the host that served this page. */
export function webSocketLinks(place: Location): OpenLink {
  const scheme = place.protocol === "https:" ? "wss:" : "ws:";
  const url = `${scheme}//${place.host}/ws/switchboard`;
  return (on) => new SocketLink(new WebSocket(url, SUBPROTOCOL), on);
}

/** Whether the host lets this browser in: a refused upgrade looks like any other failure, a plain request does not. */
export async function letIn(): Promise<boolean> {
  try {
    const answer = await fetch("/", { method: "HEAD", cache: "no-store", redirect: "manual" });
    return answer.status !== 401;
  } catch {
    // Nobody answers: that is no refusal.
    return true;
  }
}

class SocketLink implements Link {
  private over = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly on: LinkEvents,
  ) {
    socket.addEventListener("open", () => {
      if (!this.over) on.opened();
    });
    socket.addEventListener("message", (event) => {
      this.read(event.data);
    });
    socket.addEventListener("close", () => {
      this.end();
    });
  }

  send(frame: FromView): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /** Ends the link at once; a dead socket may take minutes to say so itself. */
  close(): void {
    this.over = true;
    this.socket.close();
  }

  private read(data: unknown): void {
    if (this.over || typeof data !== "string") return;
    let frame: unknown;
    try {
      frame = JSON.parse(data);
    } catch {
      // Half a frame would be a hole in the log; a fresh link has none.
      this.socket.close();
      this.end();
      return;
    }
    if (typeof frame === "object" && frame !== null && "type" in frame) this.on.frame(frame as ToView);
  }

  private end(): void {
    if (this.over) return;
    this.over = true;
    this.on.closed();
  }
}
