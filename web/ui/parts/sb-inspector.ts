/** The recorded wire of one session: the switch, a picture, a list that follows, and the message that is chosen. */
import { html, LitElement, nothing } from "lit";
import { state } from "lit/decorators.js";
import { follow, setRecording } from "../edges/wirerecord";
import {
  clock,
  delta,
  eventsOf,
  type Filter,
  laidOut,
  NO_FILTER,
  picture,
  size,
  type WireEntry,
  WireRecord,
} from "../model/inspect";
import { revealed } from "../model/words";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Session } from "../wire";
import { COLUMNS, drawn } from "./inspector-picture";
import { inspectorStyle } from "./inspector-style";
import { shown } from "./shown";
import "./sb-wire-list";
import type { SbWireList } from "./sb-wire-list";

const SPANS: [number, string][] = [
  [60_000, "last minute"],
  [600_000, "last ten minutes"],
  [0, "all"],
];

export class SbInspector extends LitElement {
  static override styles = [shared, inspectorStyle];
  @state() private session: Session | null = null;
  @state() private filter: Filter = NO_FILTER;
  @state() private span = 0;
  @state() private chosen: number | null = null;
  @state() private raw = false;
  @state() private trouble: string | null = null;
  @state() private frames = 0;
  private record = new WireRecord();
  private stop: (() => void) | null = null;
  private waiting = false;

  /** Whether it is shown, so that the page leaves its keys alone. */
  get open(): boolean {
    return this.session !== null;
  }

  show(session: Session): void {
    this.close();
    this.session = session;
    this.record = new WireRecord();
    this.chosen = null;
    this.trouble = null;
    this.filter = NO_FILTER;
    this.stop = follow(session.session, this.record, this.news);
    void this.updateComplete.then(() => {
      const dialog = this.renderRoot.querySelector("dialog");
      if (dialog && !dialog.open) dialog.showModal();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.close();
  }

  /** A flood of messages is one change a frame. */
  private readonly news = (): void => {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.frames += 1;
    });
  };

  private readonly close = (): void => {
    this.stop?.();
    this.stop = null;
    this.session = null;
  };

  protected override render() {
    const { session, record } = this;
    if (!session) return nothing;
    const entries = record.shown(this.filter);
    return html`<dialog
      aria-labelledby="inspector-title"
      data-testid="inspector"
      data-frames=${this.frames}
      @close=${this.close}
    >
      <div class="bar">
        <h2 id="inspector-title" class="clip">Wire of ${revealed(session.title || "Untitled")}</h2>
        <label class="switch">
          <input
            type="checkbox"
            role="switch"
            data-testid="wire-switch"
            .checked=${record.recording === true}
            ?disabled=${record.recording === null}
            @change=${this.turn}
          />
          Record
        </label>
        <a
          class="export small"
          href="/wire/${session.session}"
          download="session-${session.session}-wire.jsonl"
          data-testid="wire-export"
          >Export</a
        >
        <form method="dialog">
          <button class="plain icon" aria-label="Close" data-testid="inspector-close">${icons.close}</button>
        </form>
      </div>
      ${this.trouble === null ? nothing : html`<div class="trouble" role="alert">${shown(this.trouble)}</div>`}
      ${record.entries.length === 0 ? this.empty() : this.full(entries)}
    </dialog>`;
  }

  private empty() {
    const { recording } = this.record;
    return html`<p class="hint" data-testid="wire-empty" role="status">
      ${
        recording === null
          ? "Asking the host…"
          : recording
            ? "Recording. Nothing has gone over the wire yet."
            : "Nothing is recorded. Turn on “Record” to keep what the agent and the views of this conversation send and get: on this machine only, bounded, without what looks like a secret, and deleted with the conversation."
      }
    </p>`;
  }

  private full(entries: WireEntry[]) {
    const { record } = this;
    return html`<div class="picture">
        ${drawn(picture(record.entries, this.span, COLUMNS), this.pick)}
        <div class="legend">
          <span><i class="agent"></i>agent</span><span><i class="view"></i>views</span
          ><span><i class="wrong"></i>noise or refused</span><span><i class="pause"></i>pause</span>
          <span class="grow"></span>
          ${record.dropped > 0 ? html`<span>${record.dropped} older ones are with the host only</span>` : nothing}
          <label
            ><span class="spoken">Time shown</span
            ><select data-testid="wire-span" @change=${(event: Event) => (this.span = Number(valueOf(event)))}>
              ${SPANS.map(([span, words]) => html`<option value=${span} ?selected=${span === this.span}>${words}</option>`)}
            </select></label
          >
        </div>
      </div>
      <div class="filters" role="group" aria-label="Filter">
        ${this.choice("side", "Both sides", { agent: "agent", view: "views", host: "host" })}
        ${this.choice("dir", "Both ways", { in: "to the host", out: "from the host", note: "notes" })}
        ${this.choice("verdict", "All", { ok: "ok", noise: "noise", refused: "refused", late: "late" })}
        ${this.choice("name", "All types", Object.fromEntries(record.names().map((name) => [name, name])))}
        <input
          type="search"
          placeholder="Find"
          aria-label="Find"
          data-testid="wire-find"
          .value=${this.filter.text}
          @input=${(event: Event) => {
            this.filter = { ...this.filter, text: valueOf(event) };
          }}
        />
        <span class="muted small" role="status" data-testid="wire-count"
          >${entries.length} of ${record.entries.length}</span
        >
      </div>
      <div class="halves">
        <sb-wire-list
          .entries=${entries}
          .chosen=${this.chosen}
          @sb-choose=${(event: CustomEvent<number>) => (this.chosen = event.detail)}
        ></sb-wire-list>
        <div class="one" tabindex="0" role="region" aria-label="The chosen message" data-testid="wire-one">
          ${this.one()}
        </div>
      </div>`;
  }

  private choice(key: keyof Filter, all: string, options: Record<string, string>) {
    return html`<label
      ><span class="spoken">${key}</span
      ><select
        class=${key}
        data-testid="wire-filter-${key}"
        @change=${(event: Event) => {
          this.filter = { ...this.filter, [key]: valueOf(event) };
        }}
      >
        <option value="" ?selected=${this.filter[key] === ""}>${all}</option>
        ${Object.entries(options).map(
          ([value, words]) =>
            html`<option value=${value} ?selected=${this.filter[key] === value}>${revealed(words)}</option>`,
        )}
      </select></label
    >`;
  }

  private one() {
    const { entries } = this.record;
    const at = entries.findIndex(({ n }) => n === this.chosen);
    const entry = entries[at];
    if (!entry) return html`<p class="muted">Choose a message to see what it says and what became of it.</p>`;
    const before = entries[at - 1];
    const wrong = entry.verdict !== "ok";
    const arrow = { in: "to the host", out: "from the host", note: "" }[entry.dir];
    const text = this.raw ? (entry.raw ?? "") : laidOut(entry);
    return html`<h3>${shown(entry.name || "(no name)")}</h3>
      <dl>
        <dt>Number</dt>
        <dd>${entry.n}</dd>
        <dt>Time</dt>
        <dd>${clock(entry.at_ms)}${before ? html` (${delta(entry.at_ms - before.at_ms)} after the one before)` : nothing}</dd>
        <dt>Wire</dt>
        <dd>${entry.side} ${arrow} ${entry.peer === "" ? nothing : html`· ${shown(entry.peer)}`} ${entry.dialect}</dd>
        ${
          entry.dir === "note"
            ? nothing
            : html`<dt>Size</dt>
              <dd>${size(entry.bytes)}${entry.cut ? ", only its beginning is kept" : nothing}</dd>`
        }
        <dt>Verdict</dt>
        <dd class=${wrong ? "wrong-word" : ""}>${entry.verdict}</dd>
        ${
          entry.why === undefined
            ? nothing
            : html`<dt>Why</dt>
              <dd>${shown(entry.why)}</dd>`
        }
        <dt>Events</dt>
        <dd data-testid="wire-events">
          ${entry.events ? html`${eventsOf(entry)} ${shown(entry.events.kinds.join(", "))}` : html`<span class="muted">none</span>`}
        </dd>
      </dl>
      ${
        entry.raw === undefined
          ? nothing
          : html`<div class="acts">
                <button aria-pressed=${this.raw ? "true" : "false"} @click=${() => (this.raw = !this.raw)}>
                  ${this.raw ? "Lay out" : "As it was"}
                </button>
                <button @click=${() => void navigator.clipboard.writeText(entry.raw ?? "")}>${icons.copy} Copy</button>
              </div>
              <pre data-testid="wire-raw">${shown(text)}</pre>`
      }`;
  }

  private readonly pick = (ms: number): void => {
    const entry = this.record.shown(this.filter).find(({ at_ms }) => at_ms >= Math.floor(ms));
    if (!entry) return;
    this.chosen = entry.n;
    this.renderRoot.querySelector<SbWireList>("sb-wire-list")?.show(entry.n);
  };

  private readonly turn = (event: Event): void => {
    const { session } = this;
    if (!session) return;
    const on = (event.target as HTMLInputElement).checked;
    void setRecording(session.session, on).then((trouble) => {
      this.trouble = trouble;
      // The host says what holds by its own notes; what it refused is as it was.
      if (trouble === null) this.record.recording = on;
      this.frames += 1;
    });
  };
}

function valueOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

customElements.define("sb-inspector", SbInspector);
