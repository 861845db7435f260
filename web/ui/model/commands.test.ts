import { describe, expect, it } from "vitest";
import { CommandList, slashAt } from "./commands";

const list = new CommandList([
  { name: "review", description: "looks at a change" },
  { name: "git:commit", description: "writes a commit" },
  { name: "recommit", description: "again" },
  { name: "plan", description: "how to commit to something" },
]);

describe("what is typed after a slash", () => {
  it("finds names that begin so, then parts of names, then descriptions", () => {
    expect(list.find("commit", 10).found.map(({ name }) => name)).toEqual(["git:commit", "recommit", "plan"]);
    expect(list.find("RE", 10).found.map(({ name }) => name)).toEqual(["review", "recommit"]);
    expect(list.find("", 2)).toMatchObject({ count: 4, found: [{ name: "review" }, { name: "git:commit" }] });
    expect(list.find("nothing", 10)).toEqual({ found: [], count: 0 });
  });

  it("is bounded, however many there are", () => {
    const many = new CommandList(
      Array.from({ length: 3_000 }, (_, at) => ({ name: `c${String(at)}`, description: "x".repeat(200) })),
    );
    const { found, count } = many.find("c", 50);
    expect([found.length, count]).toEqual([50, 3_000]);
  });

  it("counts only at the very beginning, and only while the caret is in it", () => {
    expect(slashAt("/rev", 4)).toBe("rev");
    expect(slashAt("/rev", 2)).toBe("r");
    expect(slashAt("/review that", 3)).toBe("re");
    expect(slashAt("/review that", 9)).toBeNull();
    expect(slashAt("see /rev", 8)).toBeNull();
    expect(slashAt("/", 1)).toBe("");
  });
});
