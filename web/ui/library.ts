/**
 * What is found again and what is done by a conversation's number: search, renaming, deletion, export; and settings and upkeep.
 * Joins their models to the link. Draws nothing.
 */
import { Chores, type Going } from "./model/chores";
import { deleteAll } from "./model/deleting";
import { Requests, whyNot } from "./model/requests";
import { type Hit, Search } from "./model/search";
import type { ExportForm, FromView, ToView } from "./wire";

/** A place in a conversation that the person wants to see. */
export type Goal = {
  number: number;
  session: number;
  epoch: string;
  seq: number;
  turn: number | null;
  prompt: boolean;
};

export type LibraryAround = {
  /** False if nobody is there to hear it. */
  send: (frame: FromView) => boolean;
  open: (session: number) => void;
  toast: (text: string, tone: "problem" | "note") => void;
  changed: () => void;
  later: (run: () => void, ms: number) => () => void;
  now: () => number;
};

/** What may be followed: an artifact of this very host. */
const ARTIFACT = /^\/artifact\/[\w.~%-]+$/;

export class Library {
  readonly requests: Requests;
  readonly search: Search;
  readonly chores: Chores;
  /** What the conversation should be scrolled to, until it is. */
  goal: Goal | null = null;
  /** How far the deletion of many is. */
  deleting: Going = null;
  private goals = 0;
  private watched = false;

  constructor(private readonly around: LibraryAround) {
    const { changed, later, now } = around;
    this.requests = new Requests(around.send);
    const ask = this.requests.ask.bind(this.requests);
    this.search = new Search({ ask, later, changed });
    this.chores = new Chores({ ask, changed, now });
  }

  /** True if the frame is no concern of the conversations. */
  take(frame: ToView): boolean {
    if (frame.type === "settings") {
      this.chores.settings = frame.settings;
      return true;
    }
    if (frame.type === "sessionGone") this.search.forget(frame.session);
    return this.requests.take(frame);
  }

  linkLost(): void {
    this.requests.linkLost();
  }

  welcomed(): void {
    if (this.watched) this.around.send({ type: "watchSettings" });
    if (this.chores.daysWanted) void this.chores.readDays();
    this.search.again();
  }

  /** Settings are told from now on. */
  watchSettings(): void {
    if (!this.watched || this.chores.settings === null) this.around.send({ type: "watchSettings" });
    this.watched = true;
  }

  /** Shows what was found, in its conversation. */
  show({ session, message }: Hit): void {
    this.goals += 1;
    this.goal = {
      number: this.goals,
      session: session.session,
      epoch: message.epoch,
      seq: message.seq,
      turn: message.turn ?? null,
      prompt: message.role === "user",
    };
    this.around.open(session.session);
  }

  async rename(session: number, title: string): Promise<void> {
    const reply = await this.requests.ask({ type: "renameSession", session, title });
    if (reply.type !== "done") this.around.toast(`Not renamed: ${whyNot(reply)}`, "problem");
  }

  async delete(session: number): Promise<void> {
    const reply = await this.requests.ask({ type: "deleteSession", session });
    if (reply.type !== "done") this.around.toast(`Not deleted: ${whyNot(reply)}`, "problem");
  }

  async deleteMany(sessions: readonly number[]): Promise<void> {
    if (this.deleting) return;
    const ask = this.requests.ask.bind(this.requests);
    const { deleted, failed, why } = await deleteAll(sessions, ask, (done, total) => {
      this.deleting = { done, total };
      this.around.changed();
    });
    this.deleting = null;
    const gone = `${String(deleted)} ${deleted === 1 ? "conversation" : "conversations"} deleted`;
    if (failed === 0) this.around.toast(`${gone}.`, "note");
    else this.around.toast(`${gone}, ${String(failed)} not: ${why}`, "problem");
  }

  /** A link to the conversation as one file; null if there is none, and then the person is told. */
  async export(session: number, form: ExportForm): Promise<{ url: string; name: string } | null> {
    const reply = await this.requests.ask({ type: "exportSession", session, form });
    if (reply.type === "artifact" && ARTIFACT.test(reply.url)) return { url: reply.url, name: reply.name };
    const why = reply.type === "artifact" ? "the host gave an address that is not its own" : whyNot(reply);
    this.around.toast(`Not exported: ${why}`, "problem");
    return null;
  }
}
