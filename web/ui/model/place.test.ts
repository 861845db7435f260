import { expect, test } from "vitest";
import { hashOfPlace, placeOfHash } from "./place";

test("a tab and the settings over it come back as they were", () => {
  for (const tab of ["t", "a/b c", "ü#?%", "x/settings", null])
    for (const settings of [true, false])
      expect(placeOfHash(hashOfPlace({ tab, settings }))).toEqual({ tab, settings });
  expect(hashOfPlace({ tab: "t", settings: true })).toBe("#/tab/t/settings");
});

test("settings can be named without a tab, and what is no place is none", () => {
  for (const hash of ["#/settings", "#settings"])
    expect(placeOfHash(hash)).toEqual({ tab: null, settings: true });
  for (const hash of ["", "#", "#/tab/", "#/tab/%", "#/elsewhere", `#/tab/${"x".repeat(129)}`])
    expect(placeOfHash(hash)).toEqual({ tab: null, settings: false });
});
