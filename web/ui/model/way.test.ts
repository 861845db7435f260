import { describe, expect, it } from "vitest";
import { wayWords } from "./way";

describe("the way to an agent elsewhere", () => {
  it("is not spoken of while it stands", () => {
    expect(wayWords({ status: "connected", retries: 0, gap: false }, "engine")).toBe(null);
  });

  it("says the try and why", () => {
    const broken = { status: "error", retries: 3, lastError: "connection refused", gap: false } as const;
    expect(wayWords(broken, "engine")).toBe("Reconnecting to engine (3rd try): connection refused");
    expect(wayWords({ status: "connecting", retries: 0, gap: false }, "engine")).toBe(
      "Connecting to engine…",
    );
    const counts = [1, 2, 4, 11, 12, 13, 21, 112].map((retries) =>
      wayWords({ status: "connecting", retries, gap: false }, "e"),
    );
    expect(counts.map((words) => words?.match(/\((\S+)/)?.[1])).toEqual([
      "1st",
      "2nd",
      "4th",
      "11th",
      "12th",
      "13th",
      "21st",
      "112th",
    ]);
  });

  it("says that events may be missing", () => {
    expect(wayWords({ status: "connected", retries: 0, gap: true }, "engine")).toBe(
      "Connected to engine again. Events may be missing until it has caught up.",
    );
  });
});
