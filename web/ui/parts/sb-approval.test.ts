import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Answer } from "../model/answers";
import type { Approval, Resolution } from "../wire";
import { SbApproval } from "./sb-approval";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => {
  document.body.replaceChildren();
  vi.useRealTimers();
});

const APPROVAL: Approval = {
  id: "a1",
  kind: "command",
  title: "run a command",
  command: "rm -rf build\u202e\u0007",
  cwd: "/home/me/project",
  severity: "high",
  reason: "it deletes files\nit cannot be undone",
  editable: true,
  rule: { type: "command", program: "/bin/rm", args: [{ type: "is", arg: "-rf" }], cwd: "/home/me/project" },
  containment: { type: "none", reason: "bwrap is not installed" },
};

type Card = {
  card: SbApproval;
  sent: Answer[];
  at: (id: string) => HTMLElement | null;
  key: (key: string, more?: KeyboardEventInit, at?: string) => Promise<void>;
};

async function card(
  more: Partial<Approval> = {},
  resolution: Resolution | null = null,
  online = true,
): Promise<Card> {
  const element = new SbApproval();
  const sent: Answer[] = [];
  element.piece = {
    kind: "approval",
    approval: { ...APPROVAL, ...more },
    resolution,
    option: null,
    edited: null,
    rule: null,
  };
  element.resolution = resolution;
  element.send = (answer) => {
    if (online) sent.push(answer);
    return online;
  };
  document.body.append(element);
  await element.updateComplete;
  await vi.advanceTimersByTimeAsync(500);
  const at = (id: string) => element.renderRoot.querySelector<HTMLElement>(`[data-testid="${id}"]`);
  return {
    card: element,
    sent,
    at,
    key: async (key, init = {}, where = "approval") => {
      at(where)?.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, composed: true, cancelable: true, ...init }),
      );
      await element.updateComplete;
    },
  };
}

it("shows the command with what hides in it, where it runs, how bad it is, why, and that nothing holds it in", async () => {
  const { at } = await card();
  expect(at("approval-command")?.textContent).toBe("rm -rf buildU+202EU+0007");
  expect(at("approval-cwd")?.textContent).toBe("/home/me/project");
  expect(at("severity")?.textContent).toBe("High risk");
  expect([...(at("approval-reasons")?.children ?? [])].map((line) => line.textContent?.trim())).toEqual([
    "It deletes files",
    "It cannot be undone",
  ]);
  expect(at("approval-held")?.textContent).toContain("NOT contained: bwrap is not installed");
  expect(at("approval-rule")?.textContent?.replaceAll(/\s+/g, " ").trim()).toBe(
    "“Always allow this” stores a rule: run /bin/rm -rf in /home/me/project and below, without asking.",
  );
});

it.each([
  ["a", "allow_once"],
  ["Enter", "allow_once"],
  ["s", "allow_session"],
  ["r", "allow_rule"],
  ["d", "deny"],
  ["Escape", "deny"],
  ["x", "deny_stop"],
])("the key %s answers %s", async (key, decision) => {
  const { sent, key: press } = await card();
  await press(key);
  expect(sent).toEqual([{ decision }]);
  await press(key);
  expect(sent).toHaveLength(1);
});

it("no key answers before the question has stood there for a moment", async () => {
  const element = new SbApproval();
  const sent: Answer[] = [];
  element.piece = {
    kind: "approval",
    approval: APPROVAL,
    resolution: null,
    option: null,
    edited: null,
    rule: null,
  };
  element.send = (answer) => sent.push(answer) > 0;
  document.body.append(element);
  await element.updateComplete;
  element.renderRoot
    .querySelector("section")
    ?.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
  expect(sent).toEqual([]);
});

it("keys elsewhere, or with others, answer nothing", async () => {
  const { sent, key } = await card();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
  await key("a", { ctrlKey: true });
  await key("a", { altKey: true });
  await key("Enter", {}, "deny");
  expect(sent).toEqual([]);
});

it("an edited command goes with the answer, and letters are letters meanwhile", async () => {
  const { card: element, sent, at, key } = await card();
  at("approval-edit-start")?.click();
  await element.updateComplete;
  const box = at("approval-edit") as HTMLTextAreaElement;
  expect(box.value).toBe("rm -rf build\u202e\u0007");
  await key("a", {}, "approval-edit");
  box.value = "rm -r build";
  box.dispatchEvent(new Event("input"));
  await element.updateComplete;
  expect((at("approve-rule") as HTMLButtonElement).disabled).toBe(true);
  expect((at("approve-session") as HTMLButtonElement).disabled).toBe(true);
  await key("Enter", { ctrlKey: true }, "approval-edit");
  expect(sent).toEqual([{ decision: "allow_once", command: "rm -r build" }]);
});

it("Escape brings back what was asked, and denies nothing", async () => {
  const { card: element, sent, at, key } = await card();
  at("approval-edit-start")?.click();
  await element.updateComplete;
  await key("Escape", {}, "approval-edit");
  await element.updateComplete;
  expect(at("approval-edit")).toBe(null);
  expect(at("approval-command")?.textContent).toContain("rm -rf build");
  expect(sent).toEqual([]);
});

it("a critical question has no answer that is remembered, and one without a rule says so", async () => {
  const critical = await card({ severity: "critical" });
  expect([critical.at("approve-session"), critical.at("approve-rule")]).toEqual([null, null]);
  await critical.key("s");
  expect(critical.sent).toEqual([]);
  const { rule: _, ...rest } = APPROVAL;
  const element = new SbApproval();
  element.piece = {
    kind: "approval",
    approval: rest,
    resolution: null,
    option: null,
    edited: null,
    rule: null,
  };
  document.body.append(element);
  await element.updateComplete;
  const button = element.renderRoot.querySelector<HTMLButtonElement>("[data-testid=approve-rule]");
  expect([button?.disabled, button?.title]).toEqual([true, "No rule can allow this"]);
});

it("the time that is left runs down", async () => {
  const { card: element, at } = await card({ expires: 1_065_000 });
  expect(at("approval-left")?.textContent).toBe("1:05 left");
  await vi.advanceTimersByTimeAsync(5_000);
  await element.updateComplete;
  expect(at("approval-left")?.textContent).toBe("1:00 left");
});

it("an answer that could not leave can be given again", async () => {
  const { at, key } = await card({}, null, false);
  await key("a");
  expect((at("approve-once") as HTMLButtonElement).disabled).toBe(false);
});

it("one that is over says how, and has no answers", async () => {
  const { at } = await card({}, "deny_stop");
  expect(at("approval-answer")?.textContent).toBe("Denied and stopped");
  expect(at("approve-once")).toBe(null);
});
