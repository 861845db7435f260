/**
 * A host's side of the dialect `tools` in memory, for tests: it hears what is asked, answers when the test says so, and can
 * break the link between any two messages.
 */
import type { OpenTools, ToolsEvents } from "../edges/tools";

export type Heard = { type: string; requestId: string } & Record<string, unknown>;

export class FakeTools {
  readonly heard: Heard[] = [];
  /** What it answers at once, by the type of what is asked; what is not here waits for `answer`. */
  readonly answers = new Map<string, (message: Heard) => Record<string, unknown>>();
  opens = 0;
  up = true;
  private on: ToolsEvents | null = null;

  readonly open: OpenTools = (on) => {
    this.opens += 1;
    // Nothing is said before the socket is there.
    queueMicrotask(() => {
      if (this.up) {
        this.on = on;
        on.opened();
      } else on.closed();
    });
    return {
      send: (text) => {
        const message = JSON.parse(text) as Heard;
        this.heard.push(message);
        const answer = this.answers.get(message.type);
        if (answer) this.answer(message, answer(message));
      },
      close: () => {
        this.on = null;
      },
    };
  };

  last(type: string): Heard {
    const found = this.heard.findLast((message) => message.type === type);
    if (!found) throw new Error(`nobody asked ${type}`);
    return found;
  }

  answer({ requestId }: Heard, answer: Record<string, unknown>): void {
    this.say({ ...answer, requestId });
  }

  say(message: Record<string, unknown>): void {
    this.on?.text(JSON.stringify(message));
  }

  lose(): void {
    const { on } = this;
    this.on = null;
    on?.closed();
  }
}
