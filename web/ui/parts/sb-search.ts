/** The search box over the conversations, its filters, and what was found, with a snippet of each message. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { repeat } from "lit/directives/repeat.js";
import type { Filters, Hit } from "../model/search";
import { ago, folderName, revealed, tamed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { FoundMessage, FoundSession, Role } from "../wire";
import { searchStyle } from "./search-style";
import { sentence } from "./shown";

const ROLES: Record<Role, string> = { user: "You", assistant: "Answer", thought: "Thought", tool: "Tool" };
const MAX_TYPED = 400;

export class SbSearch extends LitElement {
  static override styles = [shared, searchStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  @state() private open = false;
  private shownMark = "";

  /** Where the person types. */
  focusBox(): void {
    const box = this.renderRoot.querySelector<HTMLInputElement>(".text");
    box?.focus();
    box?.select();
  }

  protected override render() {
    const { search } = this.page.library;
    const { active, narrowed } = search;
    const marked = active && search.hit ? `hit-${String(search.marked)}` : nothing;
    return html`<div class="find" role="search">
        <div class="box">
          ${icons.search}
          <input
            class="text"
            role="combobox"
            aria-label="Search all conversations"
            aria-autocomplete="list"
            aria-expanded=${active}
            aria-controls=${active ? "results" : nothing}
            aria-activedescendant=${marked}
            placeholder="Search"
            title="Search all conversations (Ctrl+K)"
            autocomplete="off"
            spellcheck="false"
            maxlength=${MAX_TYPED}
            data-testid="search"
            .value=${live(search.text)}
            @input=${(event: Event) => {
              search.type((event.target as HTMLInputElement).value);
            }}
            @keydown=${this.key}
          />
          ${
            active
              ? html`<button
                  class="plain icon"
                  aria-label="Clear the search"
                  data-testid="search-clear"
                  @click=${() => {
                    search.clear();
                    this.focusBox();
                  }}
                >
                  ${icons.close}
                </button>`
              : nothing
          }
          <button
            class="plain icon ${narrowed > 0 ? "narrowed" : ""}"
            aria-label="Filters${narrowed > 0 ? `, ${String(narrowed)} set` : ""}"
            title="Filters"
            aria-expanded=${this.open}
            data-testid="search-filters"
            @click=${() => (this.open = !this.open)}
          >
            ${icons.sliders}${narrowed > 0 ? html`<span class="count">${narrowed}</span>` : nothing}
          </button>
        </div>
        ${this.open ? this.filters() : nothing}
      </div>
      ${active ? this.results() : nothing}`;
  }

  protected override updated(): void {
    const { search } = this.page.library;
    this.toggleAttribute("active", search.active);
    const mark = `${String(search.marked)} ${search.text}`;
    if (mark === this.shownMark) return;
    this.shownMark = mark;
    this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private filters() {
    const { search } = this.page.library;
    const { order, role, agent, path, since, until } = search.filters;
    const names = new Set([...this.page.model.sessions.values()].map((session) => session.agent));
    for (const { agents } of this.page.model.workspaces.values())
      for (const { name } of agents) names.add(name);
    if (agent !== "") names.add(agent);
    const set = (name: keyof Filters) => (event: Event) => {
      search.filter({ [name]: (event.target as HTMLInputElement | HTMLSelectElement).value });
    };
    return html`<div class="filters small" data-testid="filters">
      <label
        ><span>Order</span
        ><select data-testid="filter-order" @change=${set("order")}>
          <option value="newest" ?selected=${order === "newest"}>Newest first</option>
          <option value="ranked" ?selected=${order === "ranked"}>Best match first</option>
        </select></label
      >
      <label
        ><span>Said by</span
        ><select data-testid="filter-role" @change=${set("role")}>
          <option value="" ?selected=${role === ""}>Anybody</option>
          <option value="user" ?selected=${role === "user"}>You</option>
          <option value="assistant" ?selected=${role === "assistant"}>The agent</option>
          <option value="thought" ?selected=${role === "thought"}>The agent, thinking</option>
          <option value="tool" ?selected=${role === "tool"}>Tools</option>
        </select></label
      >
      <label
        ><span>Agent</span
        ><select data-testid="filter-agent" @change=${set("agent")}>
          <option value="" ?selected=${agent === ""}>Any</option>
          ${[...names]
            .filter((name) => name !== "bench")
            .sort()
            .map(
              (name) => html`<option .value=${name} ?selected=${name === agent}>${revealed(name)}</option>`,
            )}
        </select></label
      >
      <label
        ><span>File</span
        ><input
          data-testid="filter-path"
          placeholder="part of a path"
          autocomplete="off"
          spellcheck="false"
          maxlength=${MAX_TYPED}
          .value=${live(path)}
          @input=${set("path")}
      /></label>
      <label
        ><span>From</span><input type="date" data-testid="filter-since" .value=${live(since)} @change=${set("since")}
      /></label>
      <label
        ><span>To</span><input type="date" data-testid="filter-until" .value=${live(until)} @change=${set("until")}
      /></label>
      ${
        search.narrowed > 0
          ? html`<button
              class="plain"
              data-testid="filters-clear"
              @click=${() => {
                search.clearFilters();
              }}
            >
              Clear the filters
            </button>`
          : nothing
      }
    </div>`;
  }

  private results() {
    const { search } = this.page.library;
    const found = search.found ?? [];
    let number = 0;
    return html`<p class="state small muted" role="status" data-testid="search-state">${this.stateWords()}</p>
      ${search.problem === "" ? nothing : html`<p class="wrong small" role="alert" data-testid="search-problem">${sentence(search.problem)}</p>`}
      <div class="results" id="results" role="listbox" aria-label="Found" data-testid="search-results" aria-busy=${search.loading}>
        ${repeat(
          found,
          ({ session }) => session,
          (session) =>
            html`<div role="group" aria-label=${revealed(session.title || "Untitled")} data-testid="found-session" data-session=${session.session}>
              ${this.head(session)}
              ${session.messages.map((message) => this.message({ session, message }, number++))}
            </div>`,
        )}
      </div>
      ${
        search.canLoadMore
          ? html`<button
              class="more"
              data-testid="search-more"
              ?disabled=${search.loading}
              @click=${() => {
                search.loadMore();
              }}
            >
              Show more
            </button>`
          : nothing
      }`;
  }

  private head(session: FoundSession) {
    return html`<div class="head">
      <span class="clip title">${revealed(session.title || "Untitled")}</span>
      <span class="facts clip"
        >${ago(this.page.now(), session.updatedMs)} · ${revealed(session.agent)} ·
        ${revealed(folderName(session.workspace))}</span
      >
    </div>`;
  }

  private message(hit: Hit, number: number) {
    const { message } = hit;
    return html`<div
      class="hit"
      role="option"
      id="hit-${number}"
      aria-selected=${number === this.page.library.search.marked}
      data-testid="found-message"
      data-seq=${message.seq}
      @click=${() => this.pick(hit, number)}
    >
      <span class="role">${ROLES[message.role]}</span>
      <span class="snippet">${snippet(message)}</span>
    </div>`;
  }

  private stateWords(): string {
    const { loading, found, hits, more, behind } = this.page.library.search;
    if (found === null) return loading ? "Searching…" : "";
    const late =
      behind === 0
        ? ""
        : ` The last words of ${String(behind)} ${behind === 1 ? "conversation" : "conversations"} are not searched yet.`;
    if (hits.length === 0) return `Nothing found.${late}`;
    const messages = `${String(hits.length)}${more ? " and more" : ""} ${hits.length === 1 && !more ? "message" : "messages"}`;
    return `${messages} in ${String(found.length)} ${found.length === 1 ? "conversation" : "conversations"}.${late}`;
  }

  private pick(hit: Hit, number: number): void {
    const { library } = this.page;
    library.search.marked = number;
    library.show(hit);
    this.dispatchEvent(new CustomEvent("sb-picked", { bubbles: true, composed: true }));
  }

  private readonly key = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const { search } = this.page.library;
    const { hit } = search;
    if (event.key === "ArrowDown") search.step(1);
    else if (event.key === "ArrowUp") search.step(-1);
    else if (event.key === "Enter" && hit && !search.loading) this.pick(hit, search.marked);
    else if (event.key === "Escape" && search.active) search.clear();
    else if (event.key === "Escape") this.renderRoot.querySelector<HTMLElement>(".text")?.blur();
    else return;
    event.preventDefault();
  };
}

/** Foreign text, in pieces, as text. */
function snippet({ snippet: pieces }: FoundMessage) {
  return pieces.map(({ text, hit }) => (hit ? html`<mark>${tamed(text)}</mark>` : html`${tamed(text)}`));
}

customElements.define("sb-search", SbSearch);
