/** Keeps one link to the host alive: does what the link's state machine asks, with real sockets and real time. */
import type { Link, OpenLink } from "./edges/link";
import { type LinkInput, LinkMachine, type LinkOutput } from "./model/link";
import type { FromView, ToView } from "./wire";

/** A timer that is so much too late means that the machine slept. */
const SLEPT_MS = 5_000;

export type LinkAround = {
  openLink: OpenLink;
  letIn: () => Promise<boolean>;
  now: () => number;
  /** Runs `run` after that many milliseconds; the answer takes it back. */
  later: (run: () => void, ms: number) => () => void;
};

export type LinkUser = {
  /** The first words on a fresh link. */
  hello: () => FromView;
  frame: (frame: ToView) => void;
  changed: () => void;
};

export class HostLink {
  readonly machine = new LinkMachine(Math.random);
  private link: Link | null = null;
  private cancelTick: () => void = () => undefined;

  constructor(
    private readonly around: LinkAround,
    private readonly user: LinkUser,
  ) {}

  get online(): boolean {
    return this.machine.phase === "online";
  }

  send(frame: FromView): void {
    this.link?.send(frame);
  }

  step(input: LinkInput): void {
    for (const output of this.machine.handle(this.around.now(), input)) this.carryOut(output);
    this.cancelTick();
    const next = this.machine.nextTick();
    if (next !== null) {
      const wait = Math.max(0, next - this.around.now());
      this.cancelTick = this.around.later(() => {
        this.tick(next);
      }, wait);
    }
    this.user.changed();
  }

  private tick(due: number): void {
    if (this.around.now() - due > SLEPT_MS) this.step({ type: "wake" });
    this.step({ type: "tick" });
  }

  private carryOut(output: LinkOutput): void {
    switch (output.type) {
      case "open":
        return this.open();
      case "close": {
        const link = this.link;
        this.link = null;
        link?.close();
        return;
      }
      case "hello":
        return this.send(this.user.hello());
      case "ping":
        return this.send({ type: "ping", n: output.n });
      case "check":
        void this.around.letIn().then((letIn) => {
          this.step({ type: "checked", letIn });
        });
        return;
    }
  }

  private open(): void {
    this.link?.close();
    // What an earlier link still says is not heard.
    const link: Link = this.around.openLink({
      opened: () => {
        if (this.link === link) this.step({ type: "opened" });
      },
      frame: (frame) => {
        if (this.link === link) this.user.frame(frame);
      },
      closed: () => {
        if (this.link !== link) return;
        this.link = null;
        this.step({ type: "closed" });
      },
    });
    this.link = link;
  }
}
