/**
 * A change of a file as the host tells it, made into rows, and rows into two sides that stand beside each other. Draws
 * nothing.
 */
import type { DiffLine, FileDiff } from "../wire";
import { type Diff, markWords, type Row, skip } from "./diff";

/** What stands in one line of the two: the line as it was, and as it would be. A skip goes over both. */
export type Sides = { before: Row | null; after: Row | null };

const KINDS = { same: "same", added: "add", removed: "del" } as const;

/** The rows of a change. */
export function fileDiff(change: FileDiff): Diff {
  const rows: Row[] = [];
  let [oldNext, newNext] = [1, 1];
  for (const hunk of change.hunks) {
    const far = Math.max(hunk.oldStart - oldNext, hunk.newStart - newNext);
    if (far > 0) rows.push(skip(`${far.toLocaleString()} unchanged ${far === 1 ? "line" : "lines"}`));
    [oldNext, newNext] = [hunk.oldStart, hunk.newStart];
    for (const [dels, adds] of runs(hunk.lines)) {
      const firstDel = rows.length;
      for (const text of dels) rows.push({ kind: "del", old: oldNext++, new: null, text, mark: null });
      const firstAdd = rows.length;
      for (const line of adds) {
        const kind = KINDS[line.type];
        const old = kind === "same" ? oldNext++ : null;
        rows.push({ kind, old, new: newNext++, text: line.text, mark: null });
      }
      if (dels.length > 0) markWords(rows, firstDel, firstAdd);
    }
  }
  return { rows, added: change.added, removed: change.removed, cut: false, leftOut: change.leftOut };
}

/** Lines in runs: what goes and what comes in its place, or one line that stays. */
function runs(lines: DiffLine[]): [string[], DiffLine[]][] {
  const found: [string[], DiffLine[]][] = [];
  let [dels, adds]: [string[], DiffLine[]] = [[], []];
  const settle = () => {
    if (dels.length + adds.length > 0) found.push([dels, adds]);
    [dels, adds] = [[], []];
  };
  for (const line of lines) {
    if (line.type === "removed") {
      if (adds.length > 0) settle();
      dels.push(line.text);
    } else if (line.type === "added") adds.push(line);
    else {
      settle();
      found.push([[], [line]]);
    }
  }
  settle();
  return found;
}

/** Lines that replace each other stand beside each other; what has no partner has nothing beside it. */
export function sidesOf(rows: readonly Row[]): Sides[] {
  const sides: Sides[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at];
    if (!row) break;
    if (row.kind === "same" || row.kind === "skip") {
      sides.push({ before: row, after: row });
      at += 1;
      continue;
    }
    const dels = runOf(rows, at, "del");
    const adds = runOf(rows, at + dels.length, "add");
    for (let pair = 0; pair < Math.max(dels.length, adds.length); pair += 1)
      sides.push({ before: dels[pair] ?? null, after: adds[pair] ?? null });
    at += dels.length + adds.length;
  }
  return sides;
}

function runOf(rows: readonly Row[], from: number, kind: Row["kind"]): Row[] {
  let to = from;
  while (rows[to]?.kind === kind) to += 1;
  return rows.slice(from, to);
}
