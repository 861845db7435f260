// How many messages a second vscode-jsonrpc takes out of a stream of content-length frames. Prints {"perSecond": N}.
import { Readable } from "node:stream";
import { StreamMessageReader } from "vscode-jsonrpc/node.js";

const count = Number(process.argv[2]);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const bytes = Buffer.concat(chunks);
const PIECE = 65536;
const pieces = [];
for (let at = 0; at < bytes.length; at += PIECE) pieces.push(bytes.subarray(at, at + PIECE));

let seen = 0;
const start = process.hrtime.bigint();
new StreamMessageReader(Readable.from(pieces, { objectMode: false })).listen(() => {
  seen += 1;
  if (seen === count) {
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    console.log(JSON.stringify({ perSecond: count / seconds }));
  }
});
