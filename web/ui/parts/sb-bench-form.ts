/** A tool's parameters as a form, or as JSON; what is wrong stands beside the field that it is about. */
import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Bench } from "../model/bench";
import type { Finding, ToolInfo } from "../model/benchtypes";
import { type Field, fieldAt, type Problem } from "../model/schema";
import { revealed } from "../model/words";
import { shared } from "../theme/shared";
import { shown } from "./shown";

const KIND_WORDS: Record<Field["kind"], string> = {
  text: "text",
  number: "number",
  integer: "whole number",
  boolean: "yes or no",
  enum: "one of these",
  array: "list, as JSON",
  object: "object, as JSON",
  any: "JSON",
  group: "",
};
const JSON_KINDS = new Set<Field["kind"]>(["array", "object", "any"]);
const MAX_SHOWN_CHARS = 600;

export class SbBenchForm extends LitElement {
  static override styles = [
    shared,
    css`
      :host {
        display: block;
      }
      .head {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 0.6em;
      }
      h4 {
        margin: 0;
        font-size: 0.95em;
      }
      .fields {
        display: grid;
        gap: 0.85em;
        margin-top: 0.5em;
      }
      fieldset {
        border: 1px solid var(--sb-line);
        border-radius: 8px;
        margin: 0;
        padding: 0.5em 0.8em 0.8em;
        min-width: 0;
        display: grid;
        gap: 0.85em;
      }
      legend {
        font-weight: 600;
        padding: 0 0.3em;
        font-family: var(--sb-mono);
        font-size: 0.92em;
        overflow-wrap: anywhere;
      }
      .field {
        display: grid;
        gap: 0.2em;
        min-width: 0;
      }
      label {
        display: flex;
        flex-wrap: wrap;
        gap: 0.15em 0.6em;
        align-items: baseline;
      }
      .name {
        font: 600 0.92em var(--sb-mono);
        overflow-wrap: anywhere;
      }
      .must {
        color: var(--sb-danger);
        font-weight: 600;
      }
      input,
      select,
      textarea {
        font: inherit;
        color: inherit;
        background: var(--sb-raised);
        border: 1px solid var(--sb-line-strong);
        border-radius: 7px;
        padding: 0.35em 0.55em;
        width: 100%;
        min-width: 0;
      }
      textarea {
        font: 0.88em/1.5 var(--sb-mono);
        resize: vertical;
        max-height: 40vh;
      }
      textarea.words {
        font: inherit;
      }
      ::placeholder {
        color: var(--sb-muted);
        opacity: 1;
      }
      [aria-invalid="true"] {
        border-color: var(--sb-danger);
      }
      .wrong {
        margin: 0;
        color: var(--sb-danger);
        overflow-wrap: anywhere;
      }
      .about {
        margin: 0;
        overflow-wrap: anywhere;
      }
      ul.wrong {
        padding-left: 1.1em;
        margin-top: 0.4em;
      }
      .none {
        margin: 0.4em 0 0;
      }
    `,
  ];
  @property({ attribute: false }) bench!: Bench;
  @property({ attribute: false }) tool!: ToolInfo;
  @property({ attribute: false }) version = "";
  @state() private stuck = false;

  protected override render() {
    const { bench, tool } = this;
    const form = bench.form(tool);
    const { problems } = bench.parameters(tool);
    const fields = tool.fields ?? [];
    // What is about no field stands above all of them.
    const loose = form.findings.filter(
      ({ parameter }) => form.raw !== null || fieldAt(fields, parameter) === null,
    );
    return html`<div class="head">
        <h4>Parameters</h4>
        ${
          tool.fields === null
            ? nothing
            : html`<button class="plain small" data-testid="bench-raw" aria-pressed=${form.raw !== null} @click=${this.turn}>
                ${form.raw === null ? "Edit as JSON" : "Back to the form"}
              </button>`
        }
      </div>
      ${
        this.stuck && form.raw !== null
          ? html`<p class="wrong small" role="alert">The form has no place for all of this; it stays JSON.</p>`
          : nothing
      }
      ${
        loose.length > 0
          ? html`<ul class="wrong small" data-testid="bench-findings">
              ${loose.map((finding) => html`<li><code>${shown(finding.parameter)}</code> ${shown(finding.message)}</li>`)}
            </ul>`
          : nothing
      }
      ${form.raw === null ? this.fields(fields, form.findings, problems) : this.raw(form.raw, problems)}`;
  }

  private raw(text: string, problems: Problem[]) {
    const wrong = problems[0]?.message;
    return html`<div class="fields">
      <div class="field">
        <textarea
          data-testid="bench-json"
          aria-label="Parameters as JSON"
          aria-invalid=${wrong !== undefined}
          aria-describedby="wrong"
          rows=${Math.min(16, Math.max(4, text.split("\n").length))}
          spellcheck="false"
          placeholder="{ }"
          .value=${text}
          @input=${(event: Event) => {
            this.stuck = false;
            this.bench.typeRaw(this.tool, (event.target as HTMLTextAreaElement).value);
          }}
        ></textarea>
        ${wrong === undefined ? nothing : html`<p class="wrong small" id="wrong">${shown(wrong)}</p>`}
      </div>
    </div>`;
  }

  private fields(fields: Field[], findings: Finding[], problems: Problem[]) {
    if (fields.length === 0) return html`<p class="muted small none">It takes none.</p>`;
    return html`<div class="fields">
      ${repeat(
        fields,
        ({ path }) => `${this.tool.name}\n${path}`,
        (field) => this.field(field, findings, problems),
      )}
    </div>`;
  }

  private field(field: Field, findings: Finding[], problems: Problem[]): unknown {
    const all = this.tool.fields ?? [];
    const wrong = [
      ...problems.filter(({ path }) => path === field.path).map(({ message }) => message),
      ...findings
        .filter(({ parameter }) => fieldAt(all, parameter) === field.path)
        .map(({ parameter, message }) => (parameter === field.path ? message : `${parameter}: ${message}`)),
    ];
    const about = field.description
      ? html`<p class="about muted small">${shown(field.description.slice(0, MAX_SHOWN_CHARS))}</p>`
      : nothing;
    const errors = wrong.map(
      (message) => html`<p class="wrong small">${shown(message.slice(0, MAX_SHOWN_CHARS))}</p>`,
    );
    if (field.kind === "group")
      return html`<fieldset data-testid="bench-group" data-path=${field.path}>
        <legend>${shown(field.name)}${field.required ? html`<span class="must" title="must be there"> *</span>` : nothing}</legend>
        ${about}${errors} ${field.fields.map((inner) => this.field(inner, findings, problems))}
      </fieldset>`;
    const id = `f-${field.path}`;
    return html`<div class="field" data-testid="bench-field" data-path=${field.path}>
      <label for=${id}>
        <span class="name">${shown(field.name)}${field.required ? html`<span class="must" aria-hidden="true"> *</span>` : nothing}</span>
        <span class="muted small">${KIND_WORDS[field.kind]}${field.required ? ", must be there" : ""}</span>
      </label>
      ${this.input(field, id, wrong.length > 0)} ${about}
      <div id="${id}-wrong" data-testid="bench-wrong">${errors}</div>
    </div>`;
  }

  private input(field: Field, id: string, wrong: boolean) {
    const typed = this.bench.form(this.tool).values.get(field.path) ?? "";
    const input = (event: Event) => {
      this.bench.type(this.tool, field.path, (event.target as HTMLInputElement).value);
    };
    if (field.kind === "boolean" || field.kind === "enum") {
      const choices = field.kind === "boolean" ? ["true", "false"] : field.choices;
      const none = field.placeholder === "" ? "—" : `— (${field.placeholder})`;
      return html`<select
        id=${id}
        aria-required=${field.required}
        aria-invalid=${wrong}
        aria-describedby="${id}-wrong"
        .value=${typed}
        @change=${input}
      >
        <option value="" ?selected=${typed === ""}>${revealed(none.slice(0, 80))}</option>
        ${choices.map((choice) => html`<option .value=${choice} ?selected=${typed === choice}>${revealed(label(choice).slice(0, 120))}</option>`)}
      </select>`;
    }
    const placeholder = field.placeholder.slice(0, 200);
    // Texts may have lines; a box for them is as good for one.
    if (field.kind === "text" || JSON_KINDS.has(field.kind))
      return html`<textarea
        id=${id}
        class=${field.kind === "text" ? "words" : ""}
        rows=${Math.min(12, Math.max(field.kind === "text" ? 1 : 2, typed.split("\n").length))}
        spellcheck="false"
        autocapitalize="off"
        aria-required=${field.required}
        aria-invalid=${wrong}
        aria-describedby="${id}-wrong"
        placeholder=${revealed(placeholder)}
        .value=${typed}
        @input=${input}
      ></textarea>`;
    return html`<input
      id=${id}
      type="text"
      inputmode=${field.kind === "integer" ? "numeric" : "decimal"}
      autocomplete="off"
      aria-required=${field.required}
      aria-invalid=${wrong}
      aria-describedby="${id}-wrong"
      placeholder=${revealed(placeholder)}
      .value=${typed}
      @input=${input}
    />`;
  }

  private readonly turn = (): void => {
    this.stuck = !this.bench.turnRaw(this.tool);
    this.requestUpdate();
  };
}

/** A choice as people read it: a text without its marks. */
function label(choice: string): string {
  const value: unknown = JSON.parse(choice);
  return typeof value === "string" ? value : choice;
}

customElements.define("sb-bench-form", SbBenchForm);
