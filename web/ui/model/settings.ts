/**
 * The settings as a form: what can be set, what stands in the fields, what has changed, and what the page can see is wrong. The
 * host alone decides what is taken. Knows no DOM.
 */
import type { Patterns, Settings, SettingsState, Unasked, Unset } from "../wire";

export type FieldName = Exclude<keyof Settings, "sensitiveFilePatterns">;
type Kind = "address" | "model" | "whole" | "decimal";
export type Field = { name: FieldName; label: string; help: string; kind: Kind; unit?: string; max: number };

export const MODEL_FIELDS: Field[] = [
  { name: "agentModel", label: "Work", help: "The model for work with tools.", kind: "model", max: 256 },
  { name: "askModel", label: "Questions", help: "The model for questions.", kind: "model", max: 256 },
  { name: "editModel", label: "Edits", help: "The model for edits.", kind: "model", max: 256 },
  {
    name: "completionModel",
    label: "Completions",
    help: "The model for completions in an editor.",
    kind: "model",
    max: 256,
  },
];
export const ADDRESS_FIELD: Field = {
  name: "baseUrl",
  label: "Address",
  help: "Where models are served, such as http://127.0.0.1:11434.",
  kind: "address",
  max: 2_048,
};
export const LIMIT_FIELDS: Field[] = [
  {
    name: "temperature",
    label: "Temperature",
    help: "How freely a model chooses its words, from 0 to 2.",
    kind: "decimal",
    max: 2,
  },
  {
    name: "maxIterations",
    label: "Rounds of a turn",
    help: "From a model’s answer to the results of its tools.",
    kind: "whole",
    max: 1_000,
  },
  {
    name: "toolTimeout",
    label: "Time for a tool",
    help: "How long a call may take if nobody says.",
    kind: "whole",
    unit: "ms",
    max: 600_000,
  },
  {
    name: "maxActiveSessions",
    label: "Conversations at once",
    help: "Turns of others wait until one has ended.",
    kind: "whole",
    max: 1_000,
  },
];
export const FIELDS: Field[] = [ADDRESS_FIELD, ...MODEL_FIELDS, ...LIMIT_FIELDS];

export type PatternRow = { glob: string; unasked: Unasked };
/** What stands in the form. */
export type Draft = { values: Record<FieldName, string>; patterns: PatternRow[] };
/** What is to be saved: what differs, and what goes although no value of its own says so. */
export type Change = { change: Settings; unset: Unset[] };
export type Problems = Partial<Record<FieldName | "patterns" | "form", string>>;

/** The settings of a scope: a folder's own, or, without a folder, the user's. */
export function settingsOf(state: SettingsState, folder: string | null): Settings {
  if (folder === null) return state.user;
  return state.workspaces.find(([root]) => root === folder)?.[1] ?? {};
}

export function draftOf(settings: Settings): Draft {
  const values = Object.fromEntries(
    FIELDS.map(({ name }) => [name, settings[name] === undefined ? "" : String(settings[name])]),
  ) as Draft["values"];
  const patterns = (settings.sensitiveFilePatterns ?? []).map(([glob, unasked]) => ({ glob, unasked }));
  return { values, patterns };
}

/** A draft over other settings than it began with: what was changed in it stays, and what was not is as it is now. */
export function rebased(draft: Draft, before: Settings, after: Settings): Draft {
  const [old, fresh] = [draftOf(before), draftOf(after)];
  const values = { ...fresh.values };
  for (const { name } of FIELDS)
    if (draft.values[name] !== old.values[name]) values[name] = draft.values[name];
  const own = JSON.stringify(draft.patterns) !== JSON.stringify(old.patterns);
  return { values, patterns: own ? draft.patterns : fresh.patterns };
}

/** What differs from the settings as they are, and what is wrong with it. Where something is, nothing should be sent. */
export function changeOf(draft: Draft, before: Settings): Change & { problems: Problems } {
  const change: Settings = {};
  const unset: Unset[] = [];
  const problems: Problems = {};
  const old = draftOf(before);
  for (const field of FIELDS) {
    const text = draft.values[field.name].trim();
    if (text === old.values[field.name]) continue;
    const problem = problemOf(field, text);
    if (problem !== null) problems[field.name] = problem;
    else if (field.name === "temperature" && text === "") unset.push("temperature");
    else if (field.kind === "whole" || field.kind === "decimal")
      Object.assign(change, { [field.name]: Number(text) });
    else Object.assign(change, { [field.name]: text });
  }
  const patterns: Patterns = draft.patterns.map(({ glob, unasked }) => [glob.trim(), unasked]);
  if (patterns.some(([glob]) => glob === ""))
    problems.patterns = "A pattern is empty. Fill it in or remove it.";
  else if (JSON.stringify(patterns) !== JSON.stringify(before.sensitiveFilePatterns ?? []))
    change.sensitiveFilePatterns = patterns;
  return { change, unset, problems };
}

/** Settings after a change that the host has taken: what is empty or 0 is out, the rest holds. */
export function applied(before: Settings, { change, unset }: Change): Settings {
  const all = Object.entries({ ...before, ...change });
  const isOut = ([name, value]: [string, unknown]) =>
    value === "" ||
    (value === 0 && name !== "temperature") ||
    (Array.isArray(value) && value.length === 0) ||
    unset.some((each) => each === name);
  return Object.fromEntries(all.filter((entry) => !isOut(entry)));
}

/** What the page can see for itself; an empty field takes a setting out. */
function problemOf(field: Field, text: string): string | null {
  if (field.kind === "address" || field.kind === "model")
    return text.length > field.max ? `At most ${String(field.max)} characters.` : null;
  if (text === "") return null;
  const number = Number(text);
  if (field.kind === "decimal")
    return number >= 0 && number <= field.max ? null : `A number from 0 to ${String(field.max)}.`;
  return Number.isInteger(number) && number >= 0 && number <= field.max
    ? null
    : `A whole number from 1 to ${field.max.toLocaleString()}.`;
}

/** Where a message of the host belongs: at the field that it names, or above the form. */
export function problemFrom(message: string): Problems {
  const named = FIELDS.find(({ name }) => {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return new RegExp(`\\b(${name}|${snake})\\b`).test(message);
  });
  if (named) return { [named.name]: message };
  return /pattern/i.test(message) ? { patterns: message } : { form: message };
}
