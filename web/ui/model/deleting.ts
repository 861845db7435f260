/** Deletes many conversations, some at a time, and says how far it is. Each that cannot be deleted is counted with its reason. */
import type { Ask, Reply } from "./requests";
import { whyNot } from "./requests";

/** So many are asked for at once: the host does each in one transaction. */
const AT_ONCE = 4;

export type Deleted = { deleted: number; failed: number; why: string };

export async function deleteAll(
  sessions: readonly number[],
  ask: (what: Ask) => Promise<Reply>,
  progress: (done: number, total: number) => void,
): Promise<Deleted> {
  const left = [...sessions];
  const result: Deleted = { deleted: 0, failed: 0, why: "" };
  progress(0, sessions.length);
  const worker = async () => {
    for (let session = left.shift(); session !== undefined; session = left.shift()) {
      const reply = await ask({ type: "deleteSession", session });
      // What is gone already is as it should be.
      if (reply.type === "done" || (reply.type === "failed" && reply.code === "not_found"))
        result.deleted += 1;
      else {
        result.failed += 1;
        result.why = whyNot(reply);
      }
      progress(result.deleted + result.failed, sessions.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, sessions.length) }, worker));
  return result;
}
