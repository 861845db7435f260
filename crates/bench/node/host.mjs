// What an extension host does today: reads an agent's pipe with vscode-jsonrpc and sends each message to every view
// with ws. Keeps no log.
//
// Prints {"port": N} when it listens. A line on standard input is the arguments of the next run of the agent; the end of
// standard input ends it.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { StreamMessageReader } from "vscode-jsonrpc/node.js";
import { WebSocketServer } from "ws";

const [agent] = process.argv.slice(2);
const views = new Set();
const door = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false, backlog: 4096 });
door.on("connection", (view) => {
  views.add(view);
  view.on("close", () => views.delete(view));
});
door.on("listening", () => console.log(JSON.stringify({ port: door.address().port })));

function stream(parameters) {
  const child = spawn(agent, ["rpc", ...parameters], { stdio: ["ignore", "pipe", "inherit"] });
  let index = 0;
  new StreamMessageReader(child.stdout).listen((message) => {
    const { turn, chunk } = message.params;
    const frame = JSON.stringify({ type: "response-chunk", tabId: "t", index: index++, messageId: turn, chunk });
    for (const view of views) view.send(frame);
  });
}

createInterface({ input: process.stdin })
  .on("line", (line) => stream(line.split(" ")))
  .on("close", () => process.exit(0));
