/** How a question was answered, in words. */
import type { ApprovalPiece } from "../model/turn";
import { revealed } from "../model/words";
import type { Resolution } from "../wire";

const ANSWERED: Record<Resolution, string> = {
  allow_once: "Allowed once",
  allow_session: "Allowed for this session",
  allow_rule: "Allowed by a rule",
  deny: "Denied",
  deny_stop: "Denied and stopped",
  expired: "No longer open",
};

/** With the agent's own words for the answer, where it has some. */
export function answeredWords({ approval, resolution, option, edited, rule }: ApprovalPiece): string {
  if (resolution === null) return "";
  const words = [
    resolution === "allow_rule" && rule !== null
      ? "Allowed, and a rule was stored"
      : (ANSWERED[resolution] ?? resolution),
  ];
  if (edited !== null) words.push(", edited");
  if (option !== null) {
    const name = approval.options?.find(({ id }) => id === option)?.name ?? option;
    words.push(`: “${revealed(name.slice(0, 200))}”`);
  }
  return words.join("");
}
