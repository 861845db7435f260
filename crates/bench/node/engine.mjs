// What an extension host does today with an engine: reads its stream with fetch and a small parser, and sends the events to
// every view in batches with ws. Keeps no log.
//
// Arguments: the engine's port and the session. Prints {"port": N} when it listens; the end of standard input ends it.
import { WebSocketServer } from "ws";

const [engine, session] = process.argv.slice(2);
const BATCH_MS = 40;
const BATCH_EVENTS = 256;
const views = new Set();
const door = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
door.on("connection", (view) => {
  views.add(view);
  view.on("close", () => views.delete(view));
});

let batch = [];
let timer = null;

function flush() {
  clearTimeout(timer);
  timer = null;
  if (batch.length === 0) return;
  const frame = JSON.stringify({ v: 1, kind: "evt", topic: "bb/events", payload: { sessionId: session, events: batch } });
  batch = [];
  for (const view of views) view.send(frame);
}

function take(data) {
  const event = JSON.parse(data);
  batch.push({ id: event.id, type: event.type, turn: event.turn, ts: event.timestamp_ms, payload: event.payload });
  if (batch.length >= BATCH_EVENTS) flush();
  else timer ??= setTimeout(flush, BATCH_MS);
}

const stream = await fetch(`http://127.0.0.1:${engine}/v1/sessions/${session}/events`);
if (!door.address()) await new Promise((done) => door.once("listening", done));
console.log(JSON.stringify({ port: door.address().port }));
process.stdin.on("end", () => process.exit(0)).resume();

let rest = "";
for await (const text of stream.body.pipeThrough(new TextDecoderStream())) {
  rest += text;
  for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
    const block = rest.slice(0, end);
    rest = rest.slice(end + 2);
    for (const line of block.split("\n")) if (line.startsWith("data: ")) take(line.slice(6));
  }
}
