// How many notifications a second vscode-jsonrpc writes with their headers, into nothing. Prints {"perSecond": N}.
import { Writable } from "node:stream";
import { StreamMessageWriter } from "vscode-jsonrpc/node.js";

const count = Number(process.argv[2]);
let bytes = 0;
const sink = new Writable({
  write(chunk, _encoding, done) {
    bytes += chunk.length;
    done();
  },
});
const writer = new StreamMessageWriter(sink);
const chunk = "the answer goes on word by word, as answers do ".repeat(3).slice(0, 128);
const start = process.hrtime.bigint();
for (let at = 0; at < count; at += 1) {
  await writer.write({ jsonrpc: "2.0", method: "$/partialResult", params: { turn: "m1", chunk } });
}
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
if (bytes < count * 200) throw new Error(`only ${bytes} bytes were written`);
console.log(JSON.stringify({ perSecond: count / seconds }));
