/** A browser window at the page, and what a person can see and do there. Knows the page only by roles and test ids. */
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { chromium as program } from "./place";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
/** How long the page may take for anything; a broken one takes longer. */
const PATIENCE = 45_000;

/** Text that is typed; more is pasted. */
const MAX_TYPED_CHARS = 500;

export function launch(flags: string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: program(), headless: true, args: [...FLAGS, ...flags] });
}

/** What a window did that it should not have done. */
export interface Trouble {
  /** Exceptions that nobody caught. */
  errors: string[];
  /** What the page's policy stopped. */
  violations: string[];
  /** What a payload ran: it calls `pwned`, or opens a dialog, or a window, or goes elsewhere. */
  ran: string[];
}

/** One window, logged in and online. */
export class Window {
  readonly trouble: Trouble = { errors: [], violations: [], ran: [] };

  private constructor(
    readonly page: Page,
    readonly context: BrowserContext,
  ) {}

  /** Follows a login link in a context and waits until the page is online. */
  static async open(context: BrowserContext, address: string): Promise<Window> {
    const window = await Window.blank(context);
    await window.page.goto(address);
    await window.online();
    return window;
  }

  private static async blank(context: BrowserContext): Promise<Window> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    const window = new Window(page, context);
    page.on("pageerror", (error) => window.trouble.errors.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|Trusted ?Type/.test(message.text()))
        window.trouble.violations.push(message.text());
    });
    await page.exposeFunction("pwned", (what: unknown) => window.trouble.ran.push(`pwned: ${String(what)}`));
    page.on("dialog", (dialog) => {
      window.trouble.ran.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("popup", (popup) => window.trouble.ran.push(`popup: ${popup.url()}`));
    return window;
  }

  at(id: string): Locator {
    return this.page.getByTestId(id);
  }

  async online(): Promise<void> {
    await this.connection("online");
  }

  async connection(state: "online" | "connecting" | "offline"): Promise<void> {
    await this.page
      .locator(`[data-testid=connection][data-state=${state}]`)
      .first()
      .waitFor({ state: "attached" });
  }

  /** Waits until it is anything but online. */
  async notOnline(): Promise<void> {
    await this.page
      .locator("[data-testid=connection]:not([data-state=online])")
      .first()
      .waitFor({ state: "attached" });
  }

  async newTab(): Promise<void> {
    const before = await this.at("tab").count();
    await this.at("tab-new").click();
    await this.at("tab").nth(before).waitFor();
  }

  /** Goes to the tab with that title. */
  async show(title: string): Promise<void> {
    await this.at("tab").filter({ hasText: title }).click();
  }

  async prompt(text: string): Promise<void> {
    const box = this.at("prompt");
    if (text.length <= MAX_TYPED_CHARS) await box.fill(text);
    // The browser takes minutes to type thousands of lines, and a person would not; they would paste.
    else {
      await box.evaluate((element, pasted) => {
        (element as HTMLTextAreaElement).value = pasted;
        element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
      }, text);
    }
    await this.at("send").click();
  }

  turn(number: number): Locator {
    return this.page.locator(`[data-testid=turn][data-turn="${number}"]`);
  }

  /** Waits until the turn is over on the page. */
  async ended(number: number, outcome?: "completed" | "cancelled" | "failed"): Promise<void> {
    const how = outcome ? `[data-outcome=${outcome}]` : "[data-outcome]";
    await this.page.locator(`[data-testid=turn][data-turn="${number}"]${how}`).waitFor();
  }

  /** Waits until a word stands in the answer of a turn. */
  async says(number: number, word: string): Promise<void> {
    await this.turn(number).getByTestId("answer").filter({ hasText: word }).first().waitFor();
  }

  /** All that stands in the answers of a turn, in order. */
  async answer(number: number): Promise<string> {
    const parts = await this.turn(number).getByTestId("answer").allTextContents();
    return parts.join("");
  }
}

/** Words with one blank between: Markdown shows any run of blanks as one. */
export function words(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(" ");
}
