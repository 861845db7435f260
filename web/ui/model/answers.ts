/** The answers that a question can have: which, by which keys, and why one cannot be given. Knows no DOM. */
import type { Approval, Decision, OptionKind } from "../wire";

/** What a person answers. `command` is the command as they changed it, `option` one of the agent's own answers. */
export type Answer = { decision: Decision; option?: string; command?: string };

export type Choice = {
  decision: Decision;
  option?: string;
  label: string;
  look: string;
  test: string;
  /** The keys that give it, as the keyboard names them, in lower case. */
  keys: string[];
  /** The key that is shown. */
  hint: string;
  /** Why it cannot be given now; null if it can. */
  off: string | null;
};

/** What each of the agent's own answers comes to in ours. One that we do not know is never taken for a yes. */
const MEANS: Record<OptionKind, Decision> = {
  allow_once: "allow_once",
  allow_always: "allow_session",
  reject_once: "deny",
  reject_always: "deny",
  other: "deny",
};
const LOOKS: Record<OptionKind, string> = {
  allow_once: "primary",
  allow_always: "",
  reject_once: "",
  reject_always: "danger",
  other: "",
};
const TESTS: Record<OptionKind, string> = {
  allow_once: "approve-once",
  allow_always: "approve-session",
  reject_once: "deny",
  reject_always: "deny-always",
  other: "approve-other",
};
/** Letters for the first of the agent's answers of each sort. */
const LETTERS: Partial<Record<OptionKind, string[]>> = {
  allow_once: ["a"],
  allow_always: ["s"],
  reject_once: ["d", "escape"],
};
const EDITED = "An edited command is allowed once, if at all";

/** The agent's own answers, all of them, or our five; stopping is always one. A number is the answer with that number. */
export function answersOf(
  approval: Approval,
  command: "asked" | "edited" = "asked",
  rule: "can" | "cannot" = approval.rule === undefined ? "cannot" : "can",
): Choice[] {
  const options = approval.options ?? [];
  const edited = command === "edited";
  const choices = options.length === 0 ? ours(approval, edited, rule === "can") : theirs(approval, edited);
  return choices.map((choice, at) => {
    const number = at < 9 ? String(at + 1) : "";
    return {
      ...choice,
      keys: number === "" ? choice.keys : [...choice.keys, number],
      hint: options.length > 0 ? number : choice.hint,
    };
  });
}

function ours(approval: Approval, edited: boolean, canRule: boolean): Choice[] {
  const once: Choice = {
    decision: "allow_once",
    label: edited ? "Allow the edited command once" : "Allow once",
    look: "primary",
    test: "approve-once",
    keys: ["a"],
    hint: "A",
    off: null,
  };
  const session: Choice = {
    decision: "allow_session",
    label: "Allow for this session",
    look: "",
    test: "approve-session",
    keys: ["s"],
    hint: "S",
    off: edited ? EDITED : null,
  };
  const rule: Choice = {
    decision: "allow_rule",
    label: "Always allow this",
    look: "",
    test: "approve-rule",
    keys: ["r"],
    hint: "R",
    off: canRule ? (edited ? EDITED : null) : "No rule can allow this",
  };
  // What is critical is asked about each time, so there is nothing to remember.
  const more = approval.severity === "critical" ? [] : [session, rule];
  return [once, ...more, deny(), stop()];
}

function theirs(approval: Approval, edited: boolean): Choice[] {
  const options = approval.options ?? [];
  const seen = new Set<OptionKind>();
  const own = options.map(({ id, name, kind }): Choice => {
    const keys = seen.has(kind) ? [] : (LETTERS[kind] ?? []);
    seen.add(kind);
    return {
      decision: MEANS[kind] ?? "deny",
      option: id,
      label: name || id,
      look: LOOKS[kind] ?? "",
      test: TESTS[kind] ?? "approve-other",
      keys,
      hint: "",
      off: edited && kind === "allow_always" ? EDITED : null,
    };
  });
  const canDeny = options.some(({ kind }) => kind === "reject_once" || kind === "reject_always");
  return [...own, ...(canDeny ? [] : [deny()]), stop()];
}

function deny(): Choice {
  return {
    decision: "deny",
    label: "Deny",
    look: "",
    test: "deny",
    keys: ["d", "escape"],
    hint: "D",
    off: null,
  };
}

function stop(): Choice {
  return {
    decision: "deny_stop",
    label: "Deny and stop",
    look: "danger plain",
    test: "deny-stop",
    keys: ["x"],
    hint: "X",
    off: null,
  };
}

/** Time that is left, as a clock: `2:05`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)];
  const two = (number: number) => String(number).padStart(2, "0");
  const rest = `${hours > 0 ? two(minutes) : String(minutes)}:${two(seconds % 60)}`;
  return hours > 0 ? `${String(hours)}:${rest}` : rest;
}

/** The reasons that stand in one text, one a line. */
export function reasonsOf(reason: string): string[] {
  return reason
    .split("\n")
    .map((line) => line.replace(/^[-•*]\s+/, "").trim())
    .filter((line) => line !== "");
}
