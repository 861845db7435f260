/**
 * The difference of two texts, or one that somebody else has written down, as rows to draw: numbered, with a few unchanged
 * lines around, and the words that differ within a line. Bounded in time and size; draws nothing.
 */

export type Row = {
  kind: "same" | "add" | "del" | "skip";
  /** Line numbers, counted from 1; null where there is none. */
  old: number | null;
  new: number | null;
  /** The line; for a skip, what stands in its place. */
  text: string;
  /** From and to, in characters, of what differs within the line. */
  mark: [number, number] | null;
};

export type Diff = {
  rows: Row[];
  added: number;
  removed: number;
  /** More was there than is compared: the counts are those of the beginning. */
  cut: boolean;
  /** Lines that whoever made the difference has left out. */
  leftOut?: number;
};

/** Characters of either text that are compared. */
export const MAX_CHARS = 1024 * 1024;
/** Unchanged lines that are shown around a change. */
const AROUND = 3;
/** Edits that are looked for before the rest counts as changed, and steps of looking. */
const MAX_EDITS = 500;
const MAX_STEPS = 4_000_000;
/** Longer lines, and longer runs of them, are compared as a whole. */
const MAX_WORD_LINE = 1_000;
const MAX_WORD_LINES = 200;

/** The difference from `before` (null if there was nothing) to `after`. */
export function diffOf(before: string | null, after: string): Diff {
  const cut = after.length > MAX_CHARS || (before?.length ?? 0) > MAX_CHARS;
  const old = linesOf((before ?? "").slice(0, MAX_CHARS));
  const now = linesOf(after.slice(0, MAX_CHARS));
  return { ...counted(folded(rowsOf(old, now))), cut };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function rowsOf(old: string[], now: string[]): Row[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const rows: Row[] = [];
  const same = (oldAt: number, newAt: number) =>
    rows.push({ kind: "same", old: oldAt + 1, new: newAt + 1, text: now[newAt] ?? "", mark: null });
  for (let at = 0; at < start; at += 1) same(at, at);
  let [oldAt, newAt] = [start, start];
  const kept = sharedLines(old.slice(start, old.length - end), now.slice(start, now.length - end));
  for (const [keptOld, keptNew] of [...kept, [old.length - end - start, now.length - end - start] as const]) {
    const firstDel = rows.length;
    for (; oldAt < start + keptOld; oldAt += 1)
      rows.push({ kind: "del", old: oldAt + 1, new: null, text: old[oldAt] ?? "", mark: null });
    const firstAdd = rows.length;
    for (; newAt < start + keptNew; newAt += 1)
      rows.push({ kind: "add", old: null, new: newAt + 1, text: now[newAt] ?? "", mark: null });
    markWords(rows, firstDel, firstAdd);
    if (oldAt < old.length - end && newAt < now.length - end) same(oldAt++, newAt++);
  }
  for (; oldAt < old.length; oldAt += 1, newAt += 1) same(oldAt, newAt);
  return rows;
}

/** Pairs of places that stay, in order: the shortest way from one to the other, or nothing if that is too far. */
function sharedLines(old: string[], now: string[]): [number, number][] {
  if (old.length === 0 || now.length === 0) return [];
  const names = new Map<string, number>();
  const name = (line: string) => {
    const known = names.get(line) ?? names.size;
    names.set(line, known);
    return known;
  };
  const a = Int32Array.from(old, name);
  const b = Int32Array.from(now, name);
  const most = Math.min(a.length + b.length, MAX_EDITS);
  // The furthest place on each diagonal, one list for each number of edits.
  const reach: Int32Array[] = [];
  let steps = 0;
  for (let edits = 0; edits <= most; edits += 1) {
    const before = reach[edits - 1];
    const here = new Int32Array(2 * edits + 1);
    reach.push(here);
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && at(before, k - 1) < at(before, k + 1));
      let x = edits === 0 ? 0 : down ? at(before, k + 1) : at(before, k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
        steps += 1;
      }
      here[k + edits] = x;
      if (x >= a.length && y >= b.length) return wayBack(reach, a.length, b.length);
    }
    steps += edits;
    if (steps > MAX_STEPS) return [];
  }
  return [];
}

/** The reach on diagonal `k` in a list that goes from −n to n. */
function at(reach: Int32Array | undefined, k: number): number {
  if (!reach) return 0;
  return reach[k + (reach.length - 1) / 2] ?? -1;
}

function wayBack(reach: Int32Array[], oldLength: number, newLength: number): [number, number][] {
  const kept: [number, number][] = [];
  let [x, y] = [oldLength, newLength];
  for (let edits = reach.length - 1; edits >= 0; edits -= 1) {
    const before = reach[edits - 1];
    const k = x - y;
    let [fromX, fromY] = [0, 0];
    if (edits > 0) {
      const down = k === -edits || (k !== edits && at(before, k - 1) < at(before, k + 1));
      const fromK = down ? k + 1 : k - 1;
      fromX = at(before, fromK);
      fromY = fromX - fromK;
    }
    const [afterX, afterY] =
      edits === 0 ? [0, 0] : k > fromX - fromY ? [fromX + 1, fromY] : [fromX, fromY + 1];
    while (x > afterX && y > afterY) {
      x -= 1;
      y -= 1;
      kept.push([x, y]);
    }
    [x, y] = [fromX, fromY];
  }
  return kept.reverse();
}

/** Marks what differs in lines that replace each other one by one. */
export function markWords(rows: Row[], firstDel: number, firstAdd: number): void {
  const pairs = Math.min(firstAdd - firstDel, rows.length - firstAdd);
  if (pairs > MAX_WORD_LINES || pairs !== firstAdd - firstDel || pairs !== rows.length - firstAdd) return;
  for (let pair = 0; pair < pairs; pair += 1) {
    const [del, add] = [rows[firstDel + pair], rows[firstAdd + pair]];
    if (!del || !add || del.text.length > MAX_WORD_LINE || add.text.length > MAX_WORD_LINE) continue;
    const [left, right] = [wordsOf(del.text), wordsOf(add.text)];
    let start = 0;
    while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
    let end = 0;
    const most = Math.min(left.length, right.length) - start;
    while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
    const shared = [...left.slice(0, start), ...left.slice(left.length - end)].join("");
    // Where almost nothing is the same, marks would only make noise.
    if (shared.trim().length * 3 < Math.max(del.text.trim().length, add.text.trim().length)) continue;
    del.mark = span(left, start, end);
    add.mark = span(right, start, end);
  }
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
}

function span(words: string[], start: number, end: number): [number, number] | null {
  const from = words.slice(0, start).join("").length;
  const to = from + words.slice(start, words.length - end).join("").length;
  return to > from ? [from, to] : null;
}

/** Leaves out unchanged lines that are far from any change. */
function folded(rows: Row[]): Row[] {
  const near = new Uint8Array(rows.length);
  let changed = false;
  for (const [at, row] of rows.entries()) {
    if (row.kind === "same") continue;
    changed = true;
    near.fill(1, Math.max(0, at - AROUND), Math.min(rows.length, at + AROUND + 1));
  }
  if (!changed) return [];
  const kept: Row[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at];
    if (near[at] === 1 && row) {
      kept.push(row);
      at += 1;
      continue;
    }
    let far = at;
    while (far < rows.length && near[far] === 0) far += 1;
    kept.push(skip(`${String(far - at)} unchanged ${far - at === 1 ? "line" : "lines"}`));
    at = far;
  }
  return kept;
}

export function skip(text: string): Row {
  return { kind: "skip", old: null, new: null, text, mark: null };
}

function counted(rows: Row[]): { rows: Row[]; added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const { kind } of rows) {
    if (kind === "add") added += 1;
    if (kind === "del") removed += 1;
  }
  return { rows, added, removed };
}

/** A difference that was written down in the unified form; what is in no such form is shown line by line. */
export function unifiedDiff(text: string): Diff {
  const cut = text.length > MAX_CHARS;
  const rows: Row[] = [];
  let [oldAt, newAt, oldLeft, newLeft] = [0, 0, 0, 0];
  let numbered = false;
  let [firstDel, firstAdd] = [0, 0];
  const settle = () => {
    markWords(rows, firstDel, firstAdd);
    firstDel = rows.length;
    firstAdd = rows.length;
  };
  for (const line of linesOf(text.slice(0, MAX_CHARS))) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    const inside = oldLeft > 0 || newLeft > 0;
    if (head && !inside) {
      settle();
      [oldAt, newAt] = [Number(head[1]), Number(head[3])];
      [oldLeft, newLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      numbered = true;
      rows.push(skip(head[5] ?? ""));
      settle();
    } else if (!inside && /^(?:--- |\+\+\+ |diff --git |index [0-9a-f]+\.\.)/.test(line)) continue;
    else if (line.startsWith("\\")) rows.push(skip(line.slice(1).trim()));
    else if (line.startsWith("-")) {
      if (firstAdd < rows.length) settle();
      rows.push({ kind: "del", old: numbered ? oldAt++ : null, new: null, text: line.slice(1), mark: null });
      oldLeft -= 1;
      firstAdd = rows.length;
    } else if (line.startsWith("+")) {
      rows.push({ kind: "add", old: null, new: numbered ? newAt++ : null, text: line.slice(1), mark: null });
      newLeft -= 1;
    } else {
      settle();
      rows.push({
        kind: "same",
        old: numbered ? oldAt++ : null,
        new: numbered ? newAt++ : null,
        text: line.startsWith(" ") ? line.slice(1) : line,
        mark: null,
      });
      oldLeft -= 1;
      newLeft -= 1;
      settle();
    }
  }
  settle();
  return { ...counted(rows), cut };
}
