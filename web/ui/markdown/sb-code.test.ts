import { afterEach, expect, it, vi } from "vitest";
import { SbCode } from "./sb-code";

afterEach(() => {
  document.body.replaceChildren();
});

function code(info: string, text: string): SbCode {
  const element = new SbCode();
  element.info = info;
  element.text = text;
  document.body.append(element);
  return element;
}

const DEADLINE = { timeout: 20_000 };
const kinds = (element: SbCode) =>
  [...element.querySelectorAll("code [class^=tk-]")].map((span) => span.className);

it("code of a known language gets its colours, and stays the same text", async () => {
  const text = 'fn main() {\n    let a = "x"; // why\n}\n';
  const element = code("rs", text);
  await vi.waitFor(() => {
    expect(kinds(element)).toContain("tk-keyword");
    expect(kinds(element)).toContain("tk-comment");
  }, DEADLINE);
  expect(element.querySelector("code")?.textContent).toBe(text);
}, 30_000);

it("code that grows is coloured as its lines end", async () => {
  const element = code("ts", "let a");
  await vi.waitFor(() => {
    expect(element.querySelector("code")?.textContent).toBe("let a");
  }, DEADLINE);
  element.text = "let a = 1;\nlet b";
  await vi.waitFor(() => {
    expect(kinds(element)).toContain("tk-number");
  }, DEADLINE);
  expect(element.querySelector("code")?.textContent).toBe("let a = 1;\nlet b");
}, 30_000);

it("code of no language, or of something huge, is plain and whole", async () => {
  const text = "one\ntwo\n".repeat(100);
  const plain = code("rs", text);
  plain.plain = true;
  const unknown = code("klingon", text);
  await vi.waitFor(() => {
    expect(plain.querySelectorAll(".chunk").length).toBe(5);
    expect(unknown.querySelectorAll(".chunk").length).toBe(5);
  }, DEADLINE);
  expect([...kinds(plain), ...kinds(unknown)]).toEqual([]);
  expect(unknown.querySelector("code")?.textContent).toBe(text);
}, 30_000);
