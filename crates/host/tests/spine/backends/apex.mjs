// An Apex backend for the tests, with vscode-jsonrpc: does what its prompt says.
import { createMessageConnection, ResponseError, StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node.js";
import { appendFileSync } from "node:fs";

const host = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
const heard = (method) => (params) => appendFileSync("heard.jsonl", JSON.stringify({ method, params }) + "\n");
const piece = (taskId, content, type = "text") => host.sendNotification("$/partialResult", { taskId, content, type });

const works = {
  async turn(taskId) {
    await host.sendNotification("$/statusUpdate", { message: "reading", progress: 0.5 });
    await host.sendNotification("$/logMessage", { type: "warn", message: "a log line" });
    await piece(taskId, "hm", "thought");
    await piece(taskId, "let x = 1;\n", "code");
    await piece(taskId, "the answer é");
    await host.sendNotification("backend/mood", { mood: "good" });
    return { status: "completed", message: "a last word" };
  },
  async short() {
    return { status: "completed", message: "only this" };
  },
  async tool(taskId) {
    const call = { toolCallId: "c1", toolName: "read_file", toolInput: { path: "a" } };
    const { code, message, data } = await host.sendRequest("$/requestToolExecution", call).catch((error) => error);
    await piece(taskId, JSON.stringify({ code, message, data }));
    return { status: "completed" };
  },
  async fail(taskId) {
    await host.sendNotification("$/taskError", { taskId, message: "no model", details: { http: 500 } });
    throw new ResponseError(-32001, "no plan");
  },
  async slow(taskId, cancelled) {
    await piece(taskId, "begun");
    await new Promise((stop) => cancelled.onCancellationRequested(stop));
    return { status: "error", message: "stopped" };
  },
};

host.onNotification("initialize", heard("initialize"));
host.onNotification("shutdown", () => {
  heard("shutdown")();
  process.exit(0);
});
host.onRequest("executeTask", (task, cancelled) => works[task.prompt](task.taskId, cancelled));
host.listen();
