/**
 * What the page asks the host under a number, each with exactly one answer: the host's, or, when the link breaks first, that it
 * broke. Knows no socket and no clock.
 */
import type { FromView, ToView } from "../wire";

type WithoutNumber<T> = T extends unknown ? Omit<T, "request"> : never;
/** Whatever can be asked under a number. */
export type Ask =
  | WithoutNumber<Extract<FromView, { request: number }>>
  | WithoutNumber<Extract<FromView, { type: "deleteSession" }>>;
type Numbered = Extract<ToView, { request: number }>;
export type Progress = Extract<Numbered, { type: "progress" }>;
export type Reply = Exclude<Numbered, Progress>;
export type Failed = Extract<Reply, { type: "failed" }>;

type Open = { answer: (reply: Reply) => void; news: (done: number, total: number) => void };

export const LINK_LOST = "The link to the host broke before it answered. Try again when it is back.";
const NOT_LINKED = "Not connected to the host.";

export class Requests {
  private last = 0;
  private readonly open = new Map<number, Open>();

  /** `send` is false if nobody is there to hear it. */
  constructor(private readonly send: (frame: FromView) => boolean) {}

  ask(what: Ask, news: Open["news"] = () => undefined): Promise<Reply> {
    this.last += 1;
    const request = this.last;
    return new Promise((answer) => {
      this.open.set(request, { answer, news });
      if (!this.send({ ...what, request } as FromView)) this.fail(request, NOT_LINKED);
    });
  }

  /** True if the frame belongs to something that was asked. */
  take(frame: ToView): boolean {
    if (!("request" in frame)) return false;
    const open = this.open.get(frame.request);
    if (frame.type === "progress") open?.news(frame.done, frame.total);
    else {
      this.open.delete(frame.request);
      open?.answer(frame);
    }
    return true;
  }

  /** A fresh link knows nothing of what was asked on the one before. */
  linkLost(): void {
    for (const request of [...this.open.keys()]) this.fail(request, LINK_LOST);
  }

  private fail(request: number, message: string): void {
    const open = this.open.get(request);
    this.open.delete(request);
    open?.answer({ type: "failed", request, code: "internal", message });
  }
}

/** Whether it was the link and not the host that made nothing of it. */
export function isLost(reply: Reply): boolean {
  return reply.type === "failed" && (reply.message === LINK_LOST || reply.message === NOT_LINKED);
}

/** Why nothing came of it; a reply of another kind than was asked for is a fault of the host's. */
export function whyNot(reply: Reply): string {
  return reply.type === "failed" ? reply.message : `the host answered with \`${reply.type}\``;
}
