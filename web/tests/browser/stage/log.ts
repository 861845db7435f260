/** The log as `switchboard sessions export` writes it: what is on the disk, read by none of the page's code. */
import { expect } from "vitest";
import type { Host } from "./host";

/** One turn, as far as the tests look at it. */
export interface Said {
  prompt: string;
  text: string;
  /** How it ended; null while it has not. */
  outcome: string | null;
  code: string | null;
}

interface Event {
  seq: number;
  turn?: number;
  body: {
    type: string;
    text?: string;
    prompt?: { text: string };
    outcome?: string;
    detail?: { code: string };
  };
}

/** The turns of the one session there is, once so many of them are over. */
export async function logOf(host: Host, ended: number): Promise<Said[]> {
  let turns: Said[] = [];
  await expect
    .poll(
      async () => {
        turns = await read(host);
        return turns.filter((turn) => turn.outcome !== null).length;
      },
      { timeout: 30_000, interval: 200, message: "turns that are over in the log" },
    )
    .toBeGreaterThanOrEqual(ended);
  return turns;
}

async function read(host: Host): Promise<Said[]> {
  const sessions = (await host.ask("sessions", "list")) as { id: number }[];
  if (sessions.length === 0) return [];
  expect(sessions.length, "sessions in the store").toBe(1);
  const events = (await host.ask("sessions", "export", String(sessions[0]?.id))) as Event[];
  const turns = new Map<number, Said>();
  for (const [at, { seq, turn, body }] of events.entries()) {
    expect(seq, "the log is dense").toBe(at + 1);
    if (turn === undefined) continue;
    const said = turns.get(turn) ?? { prompt: "", text: "", outcome: null, code: null };
    turns.set(turn, said);
    if (body.type === "promptQueued") said.prompt = body.prompt?.text ?? "";
    if (body.type === "text") said.text += body.text ?? "";
    if (body.type === "turnEnded") {
      said.outcome = body.outcome ?? "";
      said.code = body.detail?.code ?? null;
    }
  }
  return [...turns.values()];
}
