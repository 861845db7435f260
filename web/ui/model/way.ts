/** The way to an agent that works elsewhere, in a line for people; null while there is nothing to say. */
import type { Connection } from "../wire";

export function wayWords({ status, retries, lastError, gap }: Connection, agent: string): string | null {
  const lost = gap ? " Events may be missing until it has caught up." : "";
  if (status === "connected") return gap ? `Connected to ${agent} again.${lost}` : null;
  const tries = retries === 0 ? "" : ` (${ordinal(retries)} try)`;
  const why = lastError === undefined ? "" : `: ${lastError}`;
  const doing = status === "connecting" && retries === 0 ? "Connecting" : "Reconnecting";
  return `${doing} to ${agent}${tries}${why === "" ? "…" : why}${lost}`;
}

function ordinal(count: number): string {
  const teen = count % 100 > 10 && count % 100 < 14;
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${String(count)}${ending}`;
}
