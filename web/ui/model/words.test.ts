import { expect, it } from "vitest";
import { ago, duration, folderName, pretty, quoted, reveal, revealed, safeAddress, tamed } from "./words";

it("hidden characters are seen", () => {
  expect(reveal("rm \u202e -rf\u0007")).toEqual([
    { plain: "rm " },
    { hidden: "U+202E" },
    { plain: " -rf" },
    { hidden: "U+0007" },
  ]);
  expect(revealed("a\u200bb\u2066c\ufeffd\u{e0041}e\ud800f\rg")).toBe(
    "a⟨U+200B⟩b⟨U+2066⟩c⟨U+FEFF⟩d⟨U+E0041⟩e⟨U+D800⟩f⟨U+000D⟩g",
  );
});

it("what nobody answers for is tamed, mark by mark", () => {
  expect(tamed("a\u202eb\u0007c\td\n")).toBe("a\ufffdb\ufffdc\td\n");
});

it("what people write stays as it is", () => {
  const text = "é 漢字 🦀 👩‍👩‍👧‍👦 🇩🇪 עברית\n\tdone";
  expect(revealed(text)).toBe(text);
});

it("a joiner that joins no picture is seen", () => {
  expect(revealed("pass\u200dword")).toBe("pass⟨U+200D⟩word");
});

it("addresses are whole, with the host as the network sees it", () => {
  expect(safeAddress("https://exämple.com/ü?q=1")).toBe("https://xn--exmple-cua.com/%C3%BC?q=1");
  expect(safeAddress("javascript:alert(1)")).toBeNull();
  expect(safeAddress("data:text/html,x")).toBeNull();
  expect(safeAddress("../relative")).toBeNull();
});

it("times are short", () => {
  expect([ago(10, 0), ago(120_000, 0), ago(7_200_000, 0), ago(3 * 86_400_000, 0)]).toEqual([
    "just now",
    "2 min ago",
    "2 h ago",
    "3 d ago",
  ]);
  expect([duration(300), duration(4_200), duration(75_000)]).toEqual([
    "less than a second",
    "4 s",
    "1 min 15 s",
  ]);
});

it("a folder is called by its last part", () => {
  expect([folderName("/home/me/project/"), folderName("C:\\code\\x"), folderName("/")]).toEqual([
    "project",
    "x",
    "/",
  ]);
});

it("values are shown whole or said to be cut", () => {
  expect(pretty({ a: 1 }, 100)).toEqual({ text: '{\n  "a": 1\n}', cut: false });
  expect(pretty("abcdef", 3)).toEqual({ text: "abc", cut: true });
});

it("what is to be typed is what a message quotes first", () => {
  expect(quoted("run `a b` in `c`")).toBe("a b");
  expect(quoted("nothing to type")).toBeNull();
});
