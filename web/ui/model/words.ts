/** Small words for people: times, durations, paths, and text whose hidden characters must be seen. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function ago(now: number, then: number): string {
  const past = Math.max(0, now - then);
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${String(Math.floor(past / MINUTE))} min ago`;
  if (past < DAY) return `${String(Math.floor(past / HOUR))} h ago`;
  if (past < 7 * DAY) return `${String(Math.floor(past / DAY))} d ago`;
  return new Date(then).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
}

/** The heading under which a time stands in a list. */
export function dayOf(now: number, then: number): string {
  const start = new Date(now).setHours(0, 0, 0, 0);
  if (then >= start) return "Today";
  if (then >= start - DAY) return "Yesterday";
  if (then >= start - 6 * DAY) return "This week";
  return "Earlier";
}

export function duration(ms: number): string {
  if (ms < 1_000) return "less than a second";
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min ${String(seconds % 60)} s`;
  return `${String(Math.floor(minutes / 60))} h ${String(minutes % 60)} min`;
}

/** The last part of a path: what people call a folder. */
export function folderName(root: string): string {
  return root.split(/[/\\]/).findLast((part) => part !== "") ?? root;
}

/**
 * Characters that change how text looks without being seen: C0 but tab and line feed, DEL, C1, the marks and
 * overrides of bidirectional text, zero-width and invisible ones, tags, lone surrogates, private line ends.
 */
const HIDDEN = new RegExp(
  [
    "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200c\\u200e\\u200f]",
    "[\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]",
    "\\p{Surrogate}",
    // A joiner makes one picture of two; anywhere else it only hides.
    "(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d",
  ].join("|"),
  "gu",
);

/** A run of text, or the name of a character that would not be seen. */
export type Shown = { plain: string } | { hidden: string };

/** Text for approvals, commands and prompts: what is shown is what is there. */
export function reveal(text: string): Shown[] {
  const shown: Shown[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) shown.push({ plain: text.slice(from, match.index) });
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    shown.push({ hidden: `U+${code}` });
    from = match.index + match[0].length;
  }
  if (from < text.length) shown.push({ plain: text.slice(from) });
  return shown;
}

/** Text that nobody answers for, such as a command's output: what would hide or turn it is one plain mark each. */
export function tamed(text: string): string {
  return text.replace(HIDDEN, "\ufffd");
}

/** The same as one string, for titles and labels. */
export function revealed(text: string): string {
  return reveal(text)
    .map((part) => ("plain" in part ? part.plain : `⟨${part.hidden}⟩`))
    .join("");
}

/** What a message of the host quotes first, in backticks: the very thing to type. */
export function quoted(text: string): string | null {
  return /`([^`]+)`/.exec(text)?.[1] ?? null;
}

/** JSON for people: strings as they are, the rest indented; bounded. */
export function pretty(value: unknown, maxChars: number): { text: string; cut: boolean } {
  let text: string;
  if (typeof value === "string") text = value;
  else {
    try {
      text = JSON.stringify(value, null, 2) ?? "";
    } catch {
      text = String(value);
    }
  }
  return text.length > maxChars ? { text: text.slice(0, maxChars), cut: true } : { text, cut: false };
}

/** An address in full, its host as the network sees it, nothing hidden. Null for what must not be opened. */
export function safeAddress(href: string): string | null {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return null;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? revealed(url.href) : null;
}
