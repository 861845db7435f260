import { expect, test } from "vitest";
import type { SettingsState } from "../wire";
import { applied, changeOf, draftOf, problemFrom, rebased, settingsOf } from "./settings";

const user = { baseUrl: "http://127.0.0.1:11434", maxIterations: 25, temperature: 0.7 };

test("only what differs is sent; what is emptied goes as nothing", () => {
  const draft = draftOf(user);
  expect(changeOf(draft, user)).toEqual({ change: {}, unset: [], problems: {} });
  draft.values.maxIterations = " ";
  draft.values.agentModel = " big ";
  draft.values.baseUrl = "";
  draft.patterns = [{ glob: "docs/**", unasked: "may" }];
  const { change, unset, problems } = changeOf(draft, user);
  expect(problems).toEqual({});
  expect(change).toEqual({
    baseUrl: "",
    agentModel: "big",
    maxIterations: 0,
    sensitiveFilePatterns: [["docs/**", "may"]],
  });
  expect(applied(user, { change, unset })).toEqual({
    agentModel: "big",
    temperature: 0.7,
    sensitiveFilePatterns: [["docs/**", "may"]],
  });
});

test("what others save meanwhile is taken over, but not over what was typed", () => {
  const draft = draftOf(user);
  draft.values.baseUrl = "http://gpu:1";
  draft.patterns = [{ glob: "docs/**", unasked: "may" }];
  const after = {
    baseUrl: "http://other:1",
    agentModel: "big",
    maxIterations: 9,
    sensitiveFilePatterns: [["x", "may"] as [string, "may"]],
  };
  const now = rebased(draft, user, after);
  expect(now.values).toMatchObject({
    baseUrl: "http://gpu:1",
    agentModel: "big",
    maxIterations: "9",
    temperature: "",
  });
  expect(now.patterns).toEqual(draft.patterns);
  expect(rebased(draftOf(user), user, after)).toEqual(draftOf(after));
});

test("what cannot be a setting is said at its field and not sent", () => {
  const draft = draftOf(user);
  draft.values.maxIterations = "1.5";
  draft.values.toolTimeout = "-1";
  draft.values.maxActiveSessions = "many";
  draft.values.temperature = "3";
  draft.patterns = [{ glob: " ", unasked: "may_not" }];
  const { change, problems } = changeOf(draft, user);
  expect(change).toEqual({});
  expect(Object.keys(problems).sort()).toEqual([
    "maxActiveSessions",
    "maxIterations",
    "patterns",
    "temperature",
    "toolTimeout",
  ]);
});

test("a temperature is taken out by a word, since every number means something", () => {
  const draft = draftOf(user);
  draft.values.temperature = "";
  const found = changeOf(draft, user);
  expect(found).toEqual({ change: {}, unset: ["temperature"], problems: {} });
  expect(applied(user, found)).toEqual({ baseUrl: user.baseUrl, maxIterations: 25 });
  draft.values.temperature = "0";
  expect(changeOf(draft, user)).toEqual({ change: { temperature: 0 }, unset: [], problems: {} });
  expect(changeOf(draftOf({}), {})).toEqual({ change: {}, unset: [], problems: {} });
});

test("what the host says stands at the field that it names", () => {
  expect(problemFrom("`max_iterations` is from 1 to 1000")).toEqual({
    maxIterations: "`max_iterations` is from 1 to 1000",
  });
  expect(problemFrom("baseUrl must be http or https")).toEqual({ baseUrl: "baseUrl must be http or https" });
  expect(problemFrom("a pattern is broken")).toEqual({ patterns: "a pattern is broken" });
  expect(problemFrom("the disk is full")).toEqual({ form: "the disk is full" });
});

test("a folder without settings has none of its own", () => {
  const state: SettingsState = {
    user,
    workspaces: [["/w", { askModel: "m" }]],
    hasToken: false,
    tokensIn: "a file",
    firstRun: false,
  };
  expect(settingsOf(state, null)).toBe(user);
  expect(settingsOf(state, "/w")).toEqual({ askModel: "m" });
  expect(settingsOf(state, "/other")).toEqual({});
});
