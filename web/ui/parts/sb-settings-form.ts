/** The settings of one scope as a form. What a person has typed is never overwritten by what others save meanwhile. */
import { html, LitElement, nothing, type PropertyValues } from "lit";
import { property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import {
  ADDRESS_FIELD,
  applied,
  changeOf,
  type Draft,
  draftOf,
  type Field,
  LIMIT_FIELDS,
  MODEL_FIELDS,
  problemFrom,
  type Problems,
  rebased,
  settingsOf,
} from "../model/settings";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { Settings, SettingsState, Unasked } from "../wire";
import { settingsStyle } from "./settings-style";
import { sentence } from "./shown";

/** Models that are drawn. */
const MAX_MODELS = 200;
/** Patterns of one list, as the host takes them. */
const MAX_PATTERNS = 200;

export class SbSettingsForm extends LitElement {
  static override styles = [shared, settingsStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) settings!: SettingsState;
  @property({ attribute: false }) folder: string | null = null;
  @property({ attribute: false }) version = "";
  @state() private draft: Draft = draftOf({});
  @state() private problems: Problems = {};
  @state() private saved = false;
  /** The settings that the draft began with. */
  private base: Settings = {};

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has("folder")) this.begin();
    else if (changed.has("settings")) this.rebase();
  }

  /** Whether something was changed and not saved. */
  get touched(): boolean {
    return JSON.stringify(this.draft) !== JSON.stringify(draftOf(this.base));
  }

  private begin(saved = false): void {
    this.base = settingsOf(this.settings, this.folder);
    this.draft = draftOf(this.base);
    this.problems = {};
    this.saved = saved;
  }

  /** The settings are others now: what a person has changed stays, and the rest is as it is. */
  private rebase(): void {
    if (!this.touched) return this.begin(this.saved);
    const base = settingsOf(this.settings, this.folder);
    this.draft = rebased(this.draft, this.base, base);
    this.base = base;
  }

  protected override render() {
    const { chores } = this.page.library;
    const { form } = this.problems;
    return html`<form class="stack" data-testid="settings-form" novalidate autocomplete="off" @submit=${this.save}>
      ${this.server()}
      <section aria-labelledby="limits">
        <h3 id="limits">How agents work</h3>
        <div class="fields">${LIMIT_FIELDS.map((field) => this.field(field))}</div>
      </section>
      ${this.patterns()}
      <div class="foot">
        ${form === undefined ? nothing : html`<p class="wrong small" role="alert" data-testid="settings-problem">${sentence(form)}</p>`}
        <span class="small good" role="status" data-testid="settings-saved">${this.saved && !this.touched ? "Saved." : ""}</span>
        <button type="button" data-testid="settings-undo" ?disabled=${!this.touched} @click=${() => this.begin()}>
          Undo
        </button>
        <button class="primary" data-testid="settings-save" ?disabled=${!this.touched || chores.saving}>
          ${chores.saving ? "Saving…" : "Save"}
        </button>
      </div>
    </form>`;
  }

  private server() {
    const { testing, tested } = this.page.library.chores;
    const models = tested?.models ?? [];
    const using = this.page.local.step.at === "using";
    return html`<section aria-labelledby="server">
      <h3 id="server">Model server</h3>
      <div class="field">
        <label for="baseUrl">${ADDRESS_FIELD.label}</label>
        <div class="line">
          ${this.input(ADDRESS_FIELD)}
          ${
            // Whoever is asked is the user's server from then on, so a folder has no test of its own.
            this.folder === null
              ? html`<button type="button" data-testid="settings-test" ?disabled=${testing} @click=${this.test}>
                  ${testing ? "Testing…" : "Test"}
                </button>`
              : nothing
          }
        </div>
        ${this.below(ADDRESS_FIELD)}
      </div>
      ${
        tested && this.folder === null
          ? html`<p class="small ${tested.success ? "good" : "wrong"}" role="status" data-testid="settings-tested">
                ${sentence(tested.message)}
              </p>
              ${
                models.length > 0
                  ? html`<p class="small muted" id="use-one">Choose one to work with it:</p>
                    <ul class="models" aria-labelledby="use-one" data-testid="settings-models">
                      ${models.slice(0, MAX_MODELS).map(
                        (model) =>
                          html`<li>
                            <button
                              type="button"
                              data-testid="settings-use"
                              aria-label="Work with ${revealed(model)}"
                              ?disabled=${using}
                              @click=${() => void this.use(tested.baseUrl, model)}
                            >
                              ${revealed(model)}
                            </button>
                          </li>`,
                      )}
                    </ul>`
                  : nothing
              }
              ${this.used()}`
          : nothing
      }
      <div class="fields" role="group" aria-label="Models">${MODEL_FIELDS.map((field) => this.field(field))}</div>
      <datalist id="models">
        ${models.slice(0, MAX_MODELS).map((model) => html`<option .value=${model}></option>`)}
      </datalist>
    </section>`;
  }

  /** How the choice of a model went. */
  private used() {
    const { step, problem, ready } = this.page.local;
    if (step.at === "using")
      return html`<p class="small muted" role="status">Setting up an agent with ${revealed(step.model)}…</p>`;
    if (problem !== "")
      return html`<p class="small wrong" role="alert" data-testid="settings-use-problem">${sentence(problem)}</p>`;
    if (!ready) return nothing;
    return html`<div class="line">
      <p class="small good" role="status" data-testid="settings-used">
        The agent <code>${revealed(ready.agent)}</code> works with <code>${revealed(ready.model)}</code> now.
      </p>
      <button
        type="button"
        class="primary"
        data-testid="settings-open-agent"
        @click=${() => {
          this.dispatchEvent(new CustomEvent("sb-done", { bubbles: true, composed: true }));
          this.page.workWith(ready.agent);
        }}
      >
        Talk to it
      </button>
    </div>`;
  }

  private field(field: Field) {
    return html`<div class="field">
      <label for=${field.name}>${field.label}${field.unit === undefined ? "" : `, ${field.unit}`}</label>
      ${this.input(field)} ${this.below(field)}
    </div>`;
  }

  private input(field: Field) {
    const { name, kind } = field;
    const wrong = this.problems[name] !== undefined;
    // What holds in a folder that has no setting of its own.
    const theirs = this.folder === null ? "" : draftOf(this.settings.user).values[name];
    return html`<input
      id=${name}
      data-testid="setting-${name}"
      inputmode=${kind === "whole" ? "numeric" : kind === "decimal" ? "decimal" : kind === "address" ? "url" : "text"}
      list=${kind === "model" ? "models" : nothing}
      autocomplete="off"
      spellcheck="false"
      placeholder=${theirs === "" ? nothing : theirs}
      aria-invalid=${wrong}
      aria-describedby="${name}-help"
      .value=${live(this.draft.values[name])}
      @input=${(event: Event) => {
        const value = (event.target as HTMLInputElement).value;
        this.draft = { ...this.draft, values: { ...this.draft.values, [name]: value } };
        const { [name]: _, ...rest } = this.problems;
        this.problems = rest;
      }}
    />`;
  }

  private below({ name, help }: Field) {
    const problem = this.problems[name];
    return problem === undefined
      ? html`<span class="small muted" id="${name}-help">${help}</span>`
      : html`<span class="small wrong" id="${name}-help" role="alert" data-testid="problem-${name}">${sentence(problem)}</span>`;
  }

  private patterns() {
    const { patterns } = this.draft;
    const problem = this.problems.patterns;
    return html`<section aria-labelledby="patterns">
      <h3 id="patterns">Sensitive files</h3>
      <p class="small muted">
        Which files an agent may change without a question, by patterns such as <code>docs/**</code>. The last one that
        matches counts. ${this.folder === null ? "" : "A folder can only have more files asked about."}
      </p>
      <ul class="patterns">
        ${patterns.map(
          ({ glob, unasked }, at) =>
            html`<li data-testid="pattern">
              <input
                aria-label="Pattern ${at + 1}"
                autocomplete="off"
                spellcheck="false"
                maxlength="128"
                .value=${live(glob)}
                @input=${(event: Event) => this.setPattern(at, { glob: (event.target as HTMLInputElement).value })}
              />
              <select
                aria-label="Pattern ${at + 1}: what follows"
                @change=${(event: Event) => this.setPattern(at, { unasked: (event.target as HTMLSelectElement).value as Unasked })}
              >
                <option value="may_not" ?selected=${unasked === "may_not"}>is asked about</option>
                <option value="may" ?selected=${unasked === "may"} ?disabled=${this.folder !== null}>
                  changes without a question
                </option>
              </select>
              <button
                type="button"
                class="plain icon"
                aria-label="Move pattern ${at + 1} up"
                title="Up"
                ?disabled=${at === 0}
                @click=${() => this.movePattern(at)}
              >
                ${icons.arrowUp}
              </button>
              <button
                type="button"
                class="plain icon"
                aria-label="Remove pattern ${at + 1}"
                title="Remove"
                @click=${() => (this.draft = { ...this.draft, patterns: patterns.toSpliced(at, 1) })}
              >
                ${icons.trash}
              </button>
            </li>`,
        )}
      </ul>
      ${problem === undefined ? nothing : html`<p class="small wrong" role="alert" data-testid="problem-patterns">${sentence(problem)}</p>`}
      <div class="line">
        <button type="button" data-testid="pattern-add" ?disabled=${patterns.length >= MAX_PATTERNS} @click=${this.addPattern}>
          ${icons.plus} Add a pattern
        </button>
      </div>
    </section>`;
  }

  private setPattern(at: number, change: Partial<Draft["patterns"][number]>): void {
    const patterns = this.draft.patterns.map((row, place) => (place === at ? { ...row, ...change } : row));
    this.draft = { ...this.draft, patterns };
    const { patterns: _, ...rest } = this.problems;
    this.problems = rest;
  }

  private movePattern(at: number): void {
    const row = this.draft.patterns[at];
    if (row)
      this.draft = {
        ...this.draft,
        patterns: this.draft.patterns.toSpliced(at, 1).toSpliced(at - 1, 0, row),
      };
  }

  private readonly addPattern = (): void => {
    this.draft = { ...this.draft, patterns: [...this.draft.patterns, { glob: "", unasked: "may_not" }] };
    void this.updateComplete.then(() =>
      [...this.renderRoot.querySelectorAll<HTMLElement>(".patterns input")].at(-1)?.focus(),
    );
  };

  private async use(baseUrl: string, model: string): Promise<void> {
    await this.page.local.use(baseUrl, model);
    this.requestUpdate();
    await this.updateComplete;
    // The button that had the keys could not be pressed meanwhile.
    const next = this.page.local.ready ? "[data-testid=settings-open-agent]" : ".models button";
    this.renderRoot.querySelector<HTMLElement>(next)?.focus();
  }

  private readonly test = (): void => {
    this.page.local.forget();
    void this.page.library.chores.test(this.draft.values.baseUrl.trim());
  };

  private readonly save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { chores } = this.page.library;
    if (chores.saving) return;
    this.saved = false;
    const { problems, ...change } = changeOf(this.draft, this.base);
    this.problems = problems;
    if (Object.keys(problems).length > 0) return this.toProblem();
    const why = await chores.save(this.folder, change);
    if (why !== null) {
      this.problems = problemFrom(why);
      return this.toProblem();
    }
    // The host says what it has now before or after its answer; until then the form shows what was taken.
    this.base = applied(this.base, change);
    this.draft = draftOf(this.base);
    this.saved = true;
  };

  /** The person's next key goes where something is wrong. */
  private toProblem(): void {
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>('input[aria-invalid="true"]')?.focus(),
    );
  }
}

customElements.define("sb-settings-form", SbSettingsForm);
