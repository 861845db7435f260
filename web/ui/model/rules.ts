/** Rules, modes and how commands are held in, in plain words. Knows no DOM. */
import type { ArgPattern, Containment, Mode, Rule, RuleWhat, SessionPolicy } from "../wire";

/** What a rule is about: what is done, exactly what it is done to, and where. */
export type RuleWords = { does: string; exact: string; where: string };

export function ruleWords(what: RuleWhat): RuleWords {
  switch (what.type) {
    case "command":
      return {
        does: "run",
        exact: [word(what.program), ...what.args.map(argWords)].join(" "),
        where: `in ${what.cwd} and below`,
      };
    case "edit":
      return { does: "change files that match", exact: what.glob, where: "in the folder" };
    case "tool":
      return { does: "call the tool", exact: what.tool, where: "" };
  }
}

function argWords(arg: ArgPattern): string {
  switch (arg.type) {
    case "is":
      return word(arg.arg);
    case "any":
      return "‹any word›";
    case "rest":
      return "‹anything›";
  }
}

/** A word as a shell would have to be given it, so that two arguments never look like one. */
function word(text: string): string {
  if (/^[\p{L}\p{N}_@%+=:,./-]+$/u.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether it lets something happen or keeps it from happening, and where it holds. */
export function scopeWords({ effect, workspace }: Rule): string {
  const where = workspace === undefined ? "everywhere" : `in ${workspace}`;
  return effect === "allow" ? `Allowed without a question, ${where}` : `Never done, ${where}`;
}

export const MODES: Record<Mode, { name: string; about: string }> = {
  agent: { name: "Agent", about: "May ask to change files and to run commands." },
  edit: { name: "Edit", about: "May ask to change files. Commands are refused." },
  plan: { name: "Plan", about: "Plans only. Changes and commands are refused." },
  ask: { name: "Ask", about: "Answers only. Changes and commands are refused." },
};

export const NO_POLICY: SessionPolicy = { mode: "agent", autoCommands: false, autoEdits: false };

/** What is still asked under a policy, one sentence each. */
export function stillAsked({ mode, autoCommands, autoEdits }: SessionPolicy): string[] {
  if (mode === "plan" || mode === "ask") return ["Nothing is changed or run, so nothing is asked."];
  const edits = autoEdits
    ? "Protected files (such as .git, CI, shell and editor settings) are asked about each time."
    : "Sensitive files (keys, .env, settings) and protected ones (.git, CI) are asked about; other files of the folder change without a question.";
  if (mode === "edit") return [edits, "Commands are refused."];
  const commands = autoCommands
    ? "Commands of high or critical risk, those that cannot be read for sure, and those that touch protected or outside places are asked about."
    : "Every command is asked about, unless a rule or an answer for this session allows it.";
  return [commands, edits, "What is critical is asked about each time, whatever is set here."];
}

export type HeldIn = { good: boolean; words: string };

/** For a card: how this very command would run. */
export function heldIn(containment: Containment): HeldIn {
  switch (containment.type) {
    case "works":
      return { good: true, words: `Runs contained: ${containment.by}` };
    case "none":
      return { good: false, words: `NOT contained: ${containment.reason}` };
    case "missing":
      return { good: false, words: `Cannot run, since containment is required: ${containment.reason}` };
  }
}

/** For a command that has run, or runs. */
export function ranHeldIn(containment: Containment): HeldIn {
  return containment.type === "works"
    ? { good: true, words: `Contained: ${containment.by}` }
    : { good: false, words: `NOT contained: ${containment.reason}` };
}

/** For the page: how all commands run. */
export function allHeldIn(containment: Containment): HeldIn {
  switch (containment.type) {
    case "works":
      return { good: true, words: `Commands run contained by ${containment.by}` };
    case "none":
      return { good: false, words: `Commands run NOT contained: ${containment.reason}` };
    case "missing":
      return { good: false, words: `No command runs, since containment is required: ${containment.reason}` };
  }
}
