import { afterEach, expect, it } from "vitest";
import { Bench } from "../model/bench";
import { toolsOf } from "../model/benchtypes";
import { SbBenchForm } from "./sb-bench-form";

afterEach(() => {
  document.body.replaceChildren();
});

const TOOL = {
  type: "function",
  function: {
    name: "t",
    description: "",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "<b>Which</b>" },
        limit: { type: "integer", default: 20 },
        deep: { type: "boolean" },
        kind: { enum: ["a", "b"] },
        names: { type: "array" },
        range: { type: "object", properties: { from: { type: "integer" } }, required: ["from"] },
      },
      required: ["path"],
    },
  },
};

async function drawn() {
  const form = new SbBenchForm();
  const bench = new Bench({
    ask: () => Promise.reject(new Error("nobody is there")),
    now: () => 0,
    newId: () => "x",
    later: () => () => undefined,
    workspace: () => "",
    changed: () => {
      form.requestUpdate();
    },
  });
  const [tool] = toolsOf([TOOL]);
  if (!tool) throw new Error("no tool");
  form.bench = bench;
  form.tool = tool;
  document.body.append(form);
  await form.updateComplete;
  const at = (path: string) => form.renderRoot.querySelector<HTMLElement>(`[data-path="${path}"]`);
  const box = (path: string) => at(path)?.querySelector<HTMLInputElement>("input, textarea, select");
  const type = async (path: string, text: string) => {
    const element = box(path);
    if (!element) throw new Error(`no ${path}`);
    element.value = text;
    element.dispatchEvent(new Event(element.matches("select") ? "change" : "input"));
    await form.updateComplete;
  };
  return { form, bench, tool, at, box, type };
}

it("has a box of its sort for each parameter, with defaults in grey and a star for what must be there", async () => {
  const { box, at } = await drawn();
  const sorts = ["path", "limit", "deep", "kind", "names", "range.from"].map((path) => box(path)?.localName);
  expect(sorts).toEqual(["textarea", "input", "select", "select", "textarea", "input"]);
  expect(box("limit")?.placeholder).toBe("20");
  expect(at("path")?.textContent).toContain("<b>Which</b>");
  expect([box("path"), box("limit")].map((element) => element?.getAttribute("aria-required"))).toEqual([
    "true",
    "false",
  ]);
  expect([...(box("deep")?.querySelectorAll("option") ?? [])].map((option) => option.value)).toEqual([
    "",
    "true",
    "false",
  ]);
});

it("takes what is typed, leaves out what is empty, and says what is no JSON where it stands", async () => {
  const { bench, tool, at, type } = await drawn();
  await type("path", "a.rs");
  await type("limit", "7");
  await type("deep", "false");
  await type("kind", '"b"');
  await type("range.from", "1");
  expect(bench.parameters(tool).parameters).toEqual({
    path: "a.rs",
    limit: 7,
    deep: false,
    kind: "b",
    range: { from: 1 },
  });
  await type("limit", "");
  await type("deep", "");
  await type("range.from", "");
  expect(bench.parameters(tool).parameters).toEqual({ path: "a.rs", kind: "b" });
  await type("names", "[1");
  expect(at("names")?.querySelector("[data-testid=bench-wrong]")?.textContent).toContain("This is not JSON");
  expect(bench.blocked(tool)).not.toBe(null);
});

it("shows findings at their fields, and those of no field above all", async () => {
  const { form, bench, tool, at } = await drawn();
  bench.form(tool).findings = [
    { parameter: "path", message: "is missing", code: "REQUIRED" },
    { parameter: "names[0]", message: "is no text", code: "TYPE_MISMATCH" },
    { parameter: "other", message: "is not known", code: "UNKNOWN_PARAMETER" },
  ];
  form.requestUpdate();
  await form.updateComplete;
  const wrong = (path: string) => at(path)?.querySelector("[data-testid=bench-wrong]")?.textContent?.trim();
  expect([wrong("path"), wrong("names"), wrong("limit")]).toEqual(["is missing", "names[0]: is no text", ""]);
  expect(form.renderRoot.querySelector("[data-testid=bench-findings]")?.textContent).toContain(
    "other is not known",
  );
});

it("goes to JSON and back, and stays JSON where the form has no place for it", async () => {
  const { form, bench, tool, type } = await drawn();
  await type("path", "a");
  const turn = async () => {
    form.renderRoot.querySelector<HTMLElement>("[data-testid=bench-raw]")?.click();
    await form.updateComplete;
  };
  const json = () => form.renderRoot.querySelector<HTMLTextAreaElement>("[data-testid=bench-json]");
  await turn();
  expect(JSON.parse(json()?.value ?? "")).toEqual({ path: "a" });
  const element = json();
  if (!element) throw new Error("no JSON");
  element.value = '{"path":null}';
  element.dispatchEvent(new Event("input"));
  await turn();
  expect(json()).not.toBe(null);
  expect(form.renderRoot.textContent).toContain("it stays JSON");
  expect(bench.parameters(tool).parameters).toEqual({ path: null });
});
