/**
 * Colours for code, line by line, so that code that is still arriving costs only its new lines. Loads what it needs when
 * the first such code appears. Knows classes, not colours; makes no HTML.
 */
import type { GrammarState, HighlighterCore, LanguageRegistration } from "shiki/core";

/** A run of characters of one kind; the kind is a class name without its prefix, or null for plain text. */
export type Run = { text: string; kind: string | null };

type Language = () => Promise<{ default: LanguageRegistration[] }>;

const LANGUAGES: Record<string, Language> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  markdown: () => import("shiki/langs/markdown.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};

const ALSO: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  h: "c",
  patch: "diff",
  golang: "go",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "tsx",
  jsonc: "json",
  json5: "json",
  md: "markdown",
  py: "python",
  rs: "rust",
  ts: "typescript",
  yml: "yaml",
  xml: "html",
};

const THEME = "switchboard";
const PREFIX = "--tk-";
/** The scopes that are told apart; everything else is plain. */
const KINDS: [string, string[]][] = [
  ["comment", ["comment", "punctuation.definition.comment"]],
  ["string", ["string", "markup.inline.raw", "punctuation.definition.string"]],
  ["number", ["constant.numeric", "constant.language", "constant.character", "support.constant"]],
  ["keyword", ["keyword", "storage", "storage.type", "storage.modifier", "punctuation.definition.heading"]],
  ["operator", ["keyword.operator"]],
  ["function", ["entity.name.function", "support.function", "meta.function-call.generic", "markup.heading"]],
  [
    "type",
    ["entity.name.type", "entity.name.class", "support.type", "support.class", "entity.name.namespace"],
  ],
  [
    "name",
    [
      "entity.name.tag",
      "support.type.property-name",
      "entity.other.attribute-name",
      "variable.other.property",
    ],
  ],
  ["inserted", ["markup.inserted"]],
  ["deleted", ["markup.deleted"]],
  ["section", ["meta.diff.range", "meta.diff.header", "entity.name.section"]],
];

const WARM_UP = ["a = 1", "let a = f('x', 1); // y", "let a = f('x', 1); // y"];

let engine: Promise<HighlighterCore> | null = null;
const loaded = new Map<string, Promise<boolean>>();

/** The language's own name, if its colours are known. */
export function languageOf(info: string): string | null {
  const name = info.toLowerCase().replace(/[^a-z0-9+#-].*$/, "");
  const real = Object.hasOwn(ALSO, name) ? ALSO[name] : name;
  return real !== undefined && Object.hasOwn(LANGUAGES, real) ? real : null;
}

/** A reader that goes through one piece of code from the top; null if the language cannot be loaded. */
export async function lineReader(language: string): Promise<LineReader | null> {
  const load = LANGUAGES[language];
  if (!load) return null;
  engine ??= makeEngine();
  const core = await engine;
  let ready = loaded.get(language);
  if (!ready) {
    ready = load().then(
      async (grammar) => {
        await core.loadLanguage(grammar.default);
        await idle();
        // A language's patterns are made when they are first used, which may take longer than a line is given: the first
        // lines would stay plain. So they are made here, once, when there is nothing better to do.
        for (const line of WARM_UP) core.codeToTokensBase(line, { lang: language, theme: THEME });
        return true;
      },
      () => false,
    );
    loaded.set(language, ready);
  }
  return (await ready) ? new LineReader(core, language) : null;
}

export class LineReader {
  private state: GrammarState | undefined;

  constructor(
    private readonly core: HighlighterCore,
    private readonly language: string,
  ) {}

  /** The runs of the next line. */
  line(text: string): Run[] {
    const options = {
      lang: this.language,
      theme: THEME,
      ...(this.state ? { grammarState: this.state } : {}),
    };
    const tokens = this.core.codeToTokensBase(text, { ...options, tokenizeMaxLineLength: 2_000 });
    this.state = this.core.getLastGrammarState(tokens) ?? this.state;
    return (tokens[0] ?? []).map((token) => ({ text: token.content, kind: kindOf(token.color) }));
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) window.requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve, 0);
  });
}

function kindOf(colour: string | undefined): string | null {
  const found = colour?.startsWith(`var(${PREFIX}`) ? colour.slice(4 + PREFIX.length, -1) : null;
  return found === "plain" ? null : found;
}

async function makeEngine(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
    import("shiki/core"),
    import("shiki/engine/javascript"),
  ]);
  return createHighlighterCore({
    themes: [
      {
        name: THEME,
        type: "light",
        colors: { "editor.foreground": `var(${PREFIX}plain)`, "editor.background": "transparent" },
        settings: [
          { settings: { foreground: `var(${PREFIX}plain)` } },
          ...KINDS.map(([kind, scope]) => ({ scope, settings: { foreground: `var(${PREFIX}${kind})` } })),
        ],
      },
    ],
    langs: [],
    // A pattern that the engine cannot have is left out; a missing colour is no error.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}
