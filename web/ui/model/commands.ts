/** What may be typed after a slash, found by what was typed so far. Looks, draws nothing; bounded by the limit it is given. */
import type { SlashCommand } from "../wire";

/** How much of a description is looked through. */
const MAX_SEARCHED_CHARS = 400;

type Known = { command: SlashCommand; name: string; words: string };

export class CommandList {
  /** Made when somebody types a slash for the first time: most never do. */
  private known: Known[] | null = null;

  constructor(readonly all: readonly SlashCommand[]) {}

  /** The best `limit` of them, and how many fit in all. What begins as it was typed comes first. */
  find(typed: string, limit: number): { found: SlashCommand[]; count: number } {
    this.known ??= this.all.map((command) => ({
      command,
      name: command.name.toLowerCase(),
      words: command.description.slice(0, MAX_SEARCHED_CHARS).toLowerCase(),
    }));
    const wanted = typed.toLowerCase();
    const ranks: SlashCommand[][] = [[], [], [], []];
    let count = 0;
    for (const { command, name, words } of this.known) {
      const rank = rankOf(name, words, wanted);
      if (rank === null) continue;
      count += 1;
      const same = ranks[rank];
      if (same && same.length < limit) same.push(command);
    }
    return { found: ranks.flat().slice(0, limit), count };
  }

  /** The command of that very name. */
  named(name: string): SlashCommand | undefined {
    return this.all.find((command) => command.name === name);
  }
}

function rankOf(name: string, words: string, wanted: string): number | null {
  if (name.startsWith(wanted)) return 0;
  const at = name.indexOf(wanted);
  if (at > 0) return /[a-z0-9]/.test(name.charAt(at - 1)) ? 2 : 1;
  return words.includes(wanted) ? 3 : null;
}

/** What is typed after a slash at the very beginning, while the caret is in it; null if nothing is. */
export function slashAt(text: string, caret: number): string | null {
  if (!text.startsWith("/") || caret < 1) return null;
  const end = text.search(/\s/);
  if (end >= 0 && caret > end) return null;
  return text.slice(1, end < 0 ? caret : Math.min(caret, end));
}
