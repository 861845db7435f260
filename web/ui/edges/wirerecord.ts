/** A session's recorded wire, read from the host as it grows, and its switch. Speaks to the page's own host only. */
import type { WireRecord } from "../model/inspect";

/** How long to wait before asking a host again that went away. */
const AGAIN_MS = 1500;

/** Follows a session's record until it is told to stop; `news` after each piece that brought something. */
export function follow(session: number, record: WireRecord, news: () => void): () => void {
  const stop = new AbortController();
  void keepOn(session, record, news, stop.signal);
  return () => {
    stop.abort();
  };
}

async function keepOn(session: number, record: WireRecord, news: () => void, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      await once(session, record, news, signal);
    } catch {
      // The host is away, or this was stopped; either way the next step says.
    }
    record.restart();
    await pause(signal);
  }
}

async function once(session: number, record: WireRecord, news: () => void, signal: AbortSignal) {
  const address = `/wire/${String(session)}?follow=1&after=${String(record.last)}`;
  const answer = await fetch(address, { signal, cache: "no-store" });
  if (!answer.ok || !answer.body) return;
  const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    if (done) return;
    if (record.take(value)) news();
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, AGAIN_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}

/** Turns a session's record on or off; what is wrong, in words, or null. */
export async function setRecording(session: number, record: boolean): Promise<string | null> {
  try {
    const answer = await fetch(`/wire/${String(session)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ record }),
    });
    if (answer.ok) return null;
    const { message } = (await answer.json()) as { message?: string };
    return message ?? `the host answers ${String(answer.status)}`;
  } catch {
    return "the host is away; try again when it is back";
  }
}
