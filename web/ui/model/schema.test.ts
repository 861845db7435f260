import { describe, expect, it } from "vitest";
import { fieldAt, type Field, fieldsOf, parametersOf, rawParameters, valuesOf } from "./schema";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string", description: "Which file" },
    ratio: { type: "number" },
    limit: { type: "integer", default: 20 },
    deep: { type: "boolean", default: false },
    kind: { enum: ["file", "folder", 3, null] },
    only: { const: "this" },
    names: { type: "array", items: { type: "string" } },
    env: { type: "object" },
    range: {
      type: "object",
      properties: {
        from: { type: "integer" },
        deeper: { type: "object", properties: { x: { type: "string" } } },
      },
      required: ["from"],
    },
    maybe: { type: ["string", "null"] },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    __proto__x: true,
  },
  required: ["path"],
};

function fields(): Field[] {
  const found = fieldsOf(SCHEMA);
  if (!found) throw new Error("no form");
  return found;
}

const typed = (values: Record<string, string>) => parametersOf(fields(), new Map(Object.entries(values)));

describe("a form", () => {
  it("has a field of its kind for every parameter", () => {
    expect(fields().map(({ name, kind }) => [name, kind])).toEqual([
      ["path", "text"],
      ["ratio", "number"],
      ["limit", "integer"],
      ["deep", "boolean"],
      ["kind", "enum"],
      ["only", "enum"],
      ["names", "array"],
      ["env", "object"],
      ["range", "group"],
      ["maybe", "text"],
      ["either", "any"],
      ["__proto__x", "any"],
    ]);
    const [path, , limit, deep, kind] = fields();
    expect([path?.required, limit?.required]).toEqual([true, false]);
    expect([path?.description, limit?.placeholder, deep?.placeholder]).toEqual(["Which file", "20", "false"]);
    expect(kind?.choices).toEqual(['"file"', '"folder"', "3", "null"]);
  });

  it("shows one level of objects as groups, what lies deeper as JSON", () => {
    const group = fields().find(({ name }) => name === "range");
    expect(group?.fields.map(({ path, kind, required }) => [path, kind, required])).toEqual([
      ["range.from", "integer", true],
      ["range.deeper", "object", false],
    ]);
  });

  it("is none without properties", () => {
    expect([fieldsOf(null), fieldsOf({ type: "object" }), fieldsOf("x"), fieldsOf([])]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});

describe("what was typed", () => {
  it("becomes parameters of the right types", () => {
    expect(
      typed({
        path: "a.rs",
        ratio: "1.5",
        limit: "7",
        deep: "false",
        kind: "3",
        names: '["a"]',
        env: '{"A":"b"}',
        "range.from": "2",
        maybe: "null",
        either: "[1]",
      }),
    ).toEqual({
      parameters: {
        path: "a.rs",
        ratio: 1.5,
        limit: 7,
        deep: false,
        kind: 3,
        names: ["a"],
        env: { A: "b" },
        range: { from: 2 },
        maybe: "null",
        either: [1],
      },
      problems: [],
    });
  });

  it("leaves out what is empty, groups included", () => {
    expect(typed({ path: "", limit: "", deep: "", kind: "", names: "", "range.from": "" })).toEqual({
      parameters: {},
      problems: [],
    });
  });

  it("is told what it cannot be, at its field", () => {
    const { parameters, problems } = typed({
      ratio: "much",
      limit: "1.5",
      names: '{"a":1}',
      env: "[]",
      either: "{",
      "range.from": "x",
    });
    expect(parameters).toEqual({});
    expect(problems.map(({ path }) => path)).toEqual([
      "ratio",
      "limit",
      "names",
      "env",
      "range.from",
      "either",
    ]);
    expect(problems[1]?.message).toBe("This is not a whole number.");
  });

  it("may have any name", () => {
    const odd = fieldsOf(
      JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}'),
    );
    const { parameters } = parametersOf(
      odd ?? [],
      new Map([
        ["__proto__", "a"],
        ["constructor", "b"],
      ]),
    );
    expect(JSON.stringify(parameters)).toBe('{"__proto__":"a","constructor":"b"}');
  });

  it("can be JSON as a whole", () => {
    expect(rawParameters(" ").parameters).toEqual({});
    expect(rawParameters('{"a":null}').parameters).toEqual({ a: null });
    expect(rawParameters("[1]").problems).toEqual([
      { path: "", message: "Parameters must be an object: { … }" },
    ]);
    expect(rawParameters("{a}").problems[0]?.message).toMatch(/^This is not JSON/);
  });
});

describe("parameters of the past", () => {
  it("fill the form so that they come out the same", () => {
    const past = {
      path: "a\nb",
      limit: 3,
      deep: true,
      kind: "file",
      names: ["x"],
      range: { from: 1, deeper: { x: "y" } },
    };
    const values = valuesOf(fields(), past);
    expect(values && parametersOf(fields(), values)).toEqual({ parameters: past, problems: [] });
  });

  it("that the form has no place for stay JSON", () => {
    for (const odd of [{ other: 1 }, { path: "" }, { path: 4 }, { kind: "tree" }, { limit: "3" }, [], "text"])
      expect([odd, valuesOf(fields(), odd)]).toEqual([odd, null]);
  });
});

it("a finding stands at the field that it is about", () => {
  const at = (parameter: string) => fieldAt(fields(), parameter);
  expect(["path", "names[2].x", "range.from", "range", "range.other", "pathological", ""].map(at)).toEqual([
    "path",
    "names",
    "range.from",
    "range",
    "range",
    null,
    null,
  ]);
});
