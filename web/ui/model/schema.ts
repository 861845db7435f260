/**
 * A tool's parameters as a form: the fields that a JSON Schema asks for, and the parameters that what was typed comes to.
 * Checks only what must hold for there to be any JSON at all; the host checks the rest. Knows no DOM.
 */

export type FieldKind =
  "text" | "number" | "integer" | "boolean" | "enum" | "array" | "object" | "any" | "group";

export type Field = {
  /** Its place: the parameter's name, or `group.name` in a group. */
  path: string;
  name: string;
  kind: FieldKind;
  required: boolean;
  description: string;
  /** What holds if it is left empty, as text; empty if nothing is said. */
  placeholder: string;
  /** The values of an enum, as JSON texts. */
  choices: string[];
  /** The fields of a group. */
  fields: Field[];
};

/** What was typed, by the fields' places. What is empty is not there. */
export type Values = ReadonlyMap<string, string>;

export type Problem = { path: string; message: string };

const MAX_FIELDS = 100;
const MAX_CHOICES = 500;
const KINDS: Record<string, FieldKind> = {
  string: "text",
  number: "number",
  integer: "integer",
  boolean: "boolean",
  array: "array",
  object: "object",
};

type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a schema; null if it is none that a form could be made of. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isObject(schema) || !isObject(schema["properties"])) return null;
  return listOf(schema["properties"], schema["required"], "", true);
}

function listOf(properties: Json, required: unknown, before: string, groups: boolean): Field[] {
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, schema]) => fieldOf(name, before + name, schema, needed.has(name), groups));
}

function fieldOf(name: string, path: string, schema: unknown, required: boolean, groups: boolean): Field {
  const about = isObject(schema) ? schema : {};
  const field: Field = {
    path,
    name,
    kind: "any",
    required,
    description: typeof about["description"] === "string" ? about["description"] : "",
    placeholder: about["default"] === undefined ? "" : plain(about["default"]),
    choices: [],
    fields: [],
  };
  const choices = Array.isArray(about["enum"])
    ? about["enum"]
    : about["const"] === undefined
      ? null
      : [about["const"]];
  if (choices) {
    field.kind = "enum";
    field.choices = choices.slice(0, MAX_CHOICES).map((value) => JSON.stringify(value));
    return field;
  }
  field.kind = kindOf(about["type"]);
  const { properties } = about;
  if (groups && field.kind === "object" && isObject(properties) && Object.keys(properties).length > 0) {
    field.kind = "group";
    field.fields = listOf(properties, about["required"], `${path}.`, false);
  }
  return field;
}

function kindOf(type: unknown): FieldKind {
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== "null");
  const [only] = types;
  return types.length === 1 && typeof only === "string" ? (KINDS[only] ?? "any") : "any";
}

/** A value as a person would type it. */
function plain(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The parameters that were typed, without what was left empty, and what of it cannot be one. */
export function parametersOf(
  fields: readonly Field[],
  values: Values,
): { parameters: Json; problems: Problem[] } {
  const parameters: Json = {};
  const problems: Problem[] = [];
  for (const field of fields) {
    if (field.kind === "group") {
      const inner = parametersOf(field.fields, values);
      problems.push(...inner.problems);
      // A group that is needed is there, if only to be told what it lacks.
      if (field.required || Object.keys(inner.parameters).length > 0)
        put(parameters, field.name, inner.parameters);
      continue;
    }
    const typed = values.get(field.path) ?? "";
    if (typed === "") continue;
    const read = valueOf(field.kind, typed);
    if ("problem" in read) problems.push({ path: field.path, message: read.problem });
    else put(parameters, field.name, read.value);
  }
  return { parameters, problems };
}

/** A parameter may have any name, also one that means something to JavaScript. */
function put(parameters: Json, name: string, value: unknown): void {
  Object.defineProperty(parameters, name, { value, enumerable: true, configurable: true, writable: true });
}

function valueOf(kind: FieldKind, typed: string): { value: unknown } | { problem: string } {
  switch (kind) {
    case "text":
      return { value: typed };
    case "number":
    case "integer": {
      const value = Number(typed);
      if (typed.trim() === "" || !Number.isFinite(value)) return { problem: "This is not a number." };
      if (kind === "integer" && !Number.isInteger(value)) return { problem: "This is not a whole number." };
      return { value };
    }
    case "boolean":
    case "enum":
    case "any":
      return parsed(typed);
    case "array":
      return checked(typed, Array.isArray, "This must be a list: [ … ]");
    case "object":
    case "group":
      return checked(typed, isObject, "This must be an object: { … }");
  }
}

function parsed(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function checked(text: string, fits: (value: unknown) => boolean, otherwise: string) {
  const read = parsed(text);
  return "problem" in read || fits(read.value) ? read : { problem: otherwise };
}

/** Whole parameters that were typed as JSON. */
export function rawParameters(text: string): { parameters: Json; problems: Problem[] } {
  if (text.trim() === "") return { parameters: {}, problems: [] };
  const read = checked(text, isObject, "Parameters must be an object: { … }");
  if ("problem" in read) return { parameters: {}, problems: [{ path: "", message: read.problem }] };
  return { parameters: read.value as Json, problems: [] };
}

/** What must be typed to get these parameters; null if the form has no place for some of them. */
export function valuesOf(fields: readonly Field[], parameters: unknown): Map<string, string> | null {
  if (!isObject(parameters)) return null;
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(parameters)) {
    const field = fields.find((each) => each.name === name);
    if (!field) return null;
    if (field.kind === "group") {
      const inner = valuesOf(field.fields, value);
      if (!inner) return null;
      for (const [path, typed] of inner) values.set(path, typed);
      continue;
    }
    const typed = field.kind === "text" ? value : JSON.stringify(value, null, isDeep(value) ? 2 : 0);
    // Only what comes out again as it went in: an empty text, for one, does not.
    if (typeof typed !== "string" || typed === "" || "problem" in valueOf(field.kind, typed)) return null;
    if (field.kind === "enum" && !field.choices.includes(typed)) return null;
    values.set(field.path, typed);
  }
  return values;
}

function isDeep(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The field that a finding is about: `items[2].name` is about `items`; null if it is about none of them. */
export function fieldAt(fields: readonly Field[], parameter: string): string | null {
  for (const field of fields) {
    const rest = parameter.startsWith(field.path) ? parameter.slice(field.path.length) : null;
    if (rest === null || (rest !== "" && !/^[.[/]/.test(rest))) continue;
    if (field.kind !== "group") return field.path;
    return fieldAt(field.fields, parameter) ?? field.path;
  }
  return null;
}
