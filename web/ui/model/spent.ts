/** What turns have used: tokens and money, added up and said in words. Knows no DOM. */
import type { Cost, CostSum, Tokens, UsageRow } from "../wire";

/** `told` has the currencies in which the agent said by itself what a turn has cost. */
export type Spent = { tokens: Tokens; costs: Map<string, number>; told: Set<string> };

const COUNT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
/** Currencies that an agent may name; the rest is not added up. */
const MAX_CURRENCIES = 8;

export function nothingSpent(): Spent {
  return { tokens: { input: 0, output: 0, cached: 0, thought: 0 }, costs: new Map(), told: new Set() };
}

export function addTokens(spent: Spent, more: Tokens): void {
  spent.tokens.input += more.input;
  spent.tokens.output += more.output;
  spent.tokens.cached += more.cached;
  spent.tokens.thought += more.thought;
}

export function addCost(spent: Spent, { amount, currency }: Cost): void {
  const known = spent.costs.get(currency);
  if (known === undefined && spent.costs.size >= MAX_CURRENCIES) return;
  spent.costs.set(currency, (known ?? 0) + amount);
}

/** All of them together. */
export function sumOf(all: Iterable<Spent>): Spent {
  const sum = nothingSpent();
  for (const { tokens, costs } of all) {
    addTokens(sum, tokens);
    for (const [currency, amount] of costs) addCost(sum, { amount, currency });
  }
  return sum;
}

export function isNothing({ tokens, costs }: Spent): boolean {
  return tokens.input + tokens.output === 0 && [...costs.values()].every((amount) => amount === 0);
}

/** In few words: `1.2K tokens · $0.004`. */
export function spentShort({ tokens, costs }: Spent): string {
  const all = tokens.input + tokens.output;
  const words = all === 0 ? [] : [`${COUNT.format(all)} tokens`];
  for (const [currency, amount] of costs) if (amount !== 0) words.push(money(amount, currency));
  return words.join(" · ");
}

/** In full, for whoever wants to know. */
export function spentLong({ tokens, costs }: Spent): string {
  const { input, output, cached, thought } = tokens;
  const words: string[] = [];
  if (input + output > 0) {
    words.push(
      `${input.toLocaleString()} tokens in${cached > 0 ? ` (${cached.toLocaleString()} from the cache)` : ""}`,
    );
    words.push(
      `${output.toLocaleString()} out${thought > 0 ? ` (${thought.toLocaleString()} thinking)` : ""}`,
    );
  }
  for (const [currency, amount] of costs) if (amount !== 0) words.push(money(amount, currency));
  return words.join(", ");
}

export function money(value: number, currency: string): string {
  try {
    const digits = Math.abs(value) < 1 ? 3 : 2;
    return new Intl.NumberFormat(undefined, {
      style: "currency",
      currency,
      maximumFractionDigits: digits,
    }).format(value);
  } catch {
    return `${value.toFixed(2)} ${currency.slice(0, 12)}`;
  }
}

export function spentOfRow({ tokens, costs }: UsageRow): Spent {
  const spent = nothingSpent();
  addTokens(spent, tokens);
  for (const { micros, currency } of costs satisfies CostSum[])
    addCost(spent, { amount: micros / 1_000_000, currency });
  return spent;
}

/** One bar of the picture; days without a row are there too. */
export type Day = { day: string; turns: number; spent: Spent };

/** The last `count` days up to today, in UTC, the oldest first. */
export function lastDays(rows: readonly UsageRow[], now: number, count: number): Day[] {
  const known = new Map(rows.flatMap((row) => (row.day === undefined ? [] : [[row.day, row] as const])));
  return Array.from({ length: count }, (_, at) => {
    const day = new Date(now - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10);
    const row = known.get(day);
    return { day, turns: row?.turns ?? 0, spent: row ? spentOfRow(row) : nothingSpent() };
  });
}
