/** From nothing to an agent with a model of one's own: a server is looked for, or named, and one of its models chosen. */
import { html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { live } from "lit/directives/live.js";
import { modelSize, type Offer } from "../model/localmodel";
import { revealed } from "../model/words";
import type { Page } from "../page";
import { icons } from "../theme/icons";
import { shared } from "../theme/shared";
import type { ServedModel } from "../wire";
import { localStyle } from "./local-style";
import { quoting, sentence } from "./shown";

/** Models that are drawn before somebody wants to see more, and then. */
const FEW = 6;
const MANY = 500;
/** One that can call tools and runs on many machines. */
const A_MODEL = "qwen3:8b";
const ADDRESS = "http://127.0.0.1:11434";

export class SbLocalModel extends LitElement {
  static override styles = [shared, localStyle];
  @property({ attribute: false }) page!: Page;
  @property({ attribute: false }) version = "";
  @state() private all = false;
  /** Whether the fields for an address are shown, where the person has said so. */
  @state() private naming: boolean | null = null;
  /** What was typed; it outlives the fields. */
  @state() private address = "";

  protected override render() {
    const { step, problem } = this.page.local;
    return html`<section class="card" aria-labelledby="local-title" data-testid="local" data-step=${step.at}>
      <h3 id="local-title">${icons.spark} Work with a local model</h3>
      <div role="status" class="news">${this.news()}</div>
      ${step.at === "offered" ? step.servers.map((server) => this.models(server)) : nothing}
      ${step.at === "offered" ? this.ways() : nothing}
      ${problem === "" ? nothing : html`<p class="wrong small" role="alert" data-testid="local-problem">${sentence(problem)}</p>`}
    </section>`;
  }

  protected override updated(): void {
    const { page } = this;
    if (page.local.step.at === "start" && page.machine.phase === "online") void page.local.look();
  }

  /** What is going on, in a sentence or two. */
  private news() {
    const { step } = this.page.local;
    switch (step.at) {
      case "start":
      case "looking":
        return html`<p class="small muted going">${icons.circle} Looking for Ollama on this machine…</p>`;
      case "using":
        return html`<p class="small muted going" data-testid="local-using">
          ${icons.circle} Setting up an agent with ${revealed(step.model)}…
        </p>`;
      case "offered": {
        const [server] = step.servers;
        if (server && server.models.length > 0)
          return html`<p class="small muted" data-testid="local-found">
            ${quoting(`Found at \`${server.baseUrl}\`. What you say goes there and nowhere else.`)} Choose a model:
          </p>`;
        return html`<p class="small" data-testid="local-none">${sentence(step.message)}</p>
          <p class="small muted">
            ${
              server && server.kind !== "ollama"
                ? "Load a model there, then test it again."
                : server
                  ? html`Fetch one with <code>ollama pull ${A_MODEL}</code>, then look again.`
                  : html`With Ollama installed, <code>ollama serve</code> starts it and <code>ollama pull ${A_MODEL}</code> fetches a model. Then look again, or name another server.`
            }
          </p>`;
      }
    }
  }

  private models({ baseUrl, models }: Offer) {
    if (models.length === 0) return nothing;
    const shown = models.slice(0, this.all ? MANY : FEW);
    return html`<ul class="models" aria-label="Models">
        ${shown.map((model) => html`<li>${this.model(baseUrl, model)}</li>`)}
      </ul>
      ${
        models.length > shown.length && !this.all
          ? html`<button class="plain small" data-testid="local-more" @click=${() => (this.all = true)}>
              ${models.length - shown.length} more
            </button>`
          : nothing
      }`;
  }

  private model(baseUrl: string, { name, size }: ServedModel) {
    const large = size === undefined ? "" : modelSize(size);
    return html`<button data-testid="local-model" data-model=${name} @click=${() => void this.use(baseUrl, name)}>
      <span class="name"><span class="spoken">Work with </span><code>${revealed(name)}</code></span>${
        large === "" ? nothing : html`<span class="muted small"><span class="spoken">, </span>${large}</span>`
      }
    </button>`;
  }

  /** What else can be done: look again, or name a server. */
  private ways() {
    const { step } = this.page.local;
    const none = step.at === "offered" && step.servers.every(({ models }) => models.length === 0);
    const naming = this.naming ?? none;
    return html`<div class="line">
        <button class="small" data-testid="local-again" @click=${this.again}>
          ${icons.again} Look again
        </button>
        <button
          class="plain small"
          data-testid="local-other"
          aria-expanded=${naming}
          aria-controls="other-server"
          @click=${() => (this.naming = !naming)}
        >
          Another server…
        </button>
      </div>
      ${naming ? this.form() : nothing}`;
  }

  private form() {
    const { testing, tokenBusy } = this.page.library.chores;
    const busy = testing || tokenBusy;
    return html`<form id="other-server" class="fields" autocomplete="off" @submit=${this.test}>
      <label for="address">Address</label>
      <input
        id="address"
        name="address"
        data-testid="local-address"
        inputmode="url"
        spellcheck="false"
        required
        maxlength="2048"
        placeholder=${ADDRESS}
        aria-describedby="address-help"
        .value=${live(this.address)}
        @input=${(event: Event) => (this.address = (event.target as HTMLInputElement).value)}
      />
      <span class="small muted" id="address-help">Of Ollama, or of anything that serves <code>/v1/models</code>.</span>
      <label for="token">Token, if it wants one</label>
      <input
        id="token"
        name="token"
        type="password"
        data-testid="local-token"
        autocomplete="new-password"
        maxlength="8192"
        aria-describedby="token-help"
      />
      <span class="small muted" id="token-help">Kept by the host for this address alone; no page gets it back.</span>
      <div class="line">
        <button class="primary" data-testid="local-test" ?disabled=${busy}>${busy ? "Testing…" : "Test"}</button>
      </div>
    </form>`;
  }

  private readonly test = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const address = form.querySelector<HTMLInputElement>("#address");
    const token = form.querySelector<HTMLInputElement>("#token");
    const [where, secret] = [address?.value.trim() ?? "", token?.value ?? ""];
    if (where === "") return address?.focus();
    const offered = await this.page.local.test(where, secret);
    // Once the host has it, nothing of it stays in the document; what could not be kept need not be typed again.
    if (token && this.page.library.chores.tokenProblem === "") token.value = "";
    if (!offered) return;
    this.naming = false;
    this.address = "";
    await this.goOn();
  };

  private readonly again = async (): Promise<void> => {
    await this.page.local.look();
    await this.goOn();
  };

  private async use(baseUrl: string, model: string): Promise<void> {
    const { page } = this;
    const { active } = page;
    const agent = await page.local.use(baseUrl, model);
    if (agent === null) return this.goOn();
    if (page.active === active) page.workWith(agent);
    // Whoever has gone elsewhere meanwhile stays there.
    else page.toast(`${agent} works with ${model} now. Choose it in a new conversation.`, "note");
  }

  /** What had the keys may be gone; they go to what can be done now. */
  private async goOn(): Promise<void> {
    this.requestUpdate();
    await this.updateComplete;
    if (this.renderRoot.querySelector(":focus")) return;
    this.renderRoot.querySelector<HTMLElement>(".models button, [data-testid=local-again]")?.focus();
  }
}

customElements.define("sb-local-model", SbLocalModel);
