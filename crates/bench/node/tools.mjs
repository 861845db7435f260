// What a tool registry in an extension host does today: checks parameters with ajv and passes the call on to whoever lent
// the tool, over ws. Keeps no log and asks nobody.
//
// Without arguments it serves and prints {"port": N}; the end of standard input ends it. `validate N` checks parameters N
// times and prints {"perSecond": N}.
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import { WebSocketServer } from "ws";

const ajv = new Ajv({ allErrors: true });
const [task, count] = process.argv.slice(2);
if (task === "validate") {
  const { schema, parameters } = JSON.parse(readFileSync(0, "utf8"));
  const validate = ajv.compile(schema);
  const began = process.hrtime.bigint();
  let good = 0;
  for (let number = 0; number < Number(count); number++) good += validate(parameters) ? 1 : 0;
  if (good !== Number(count)) throw new Error("the parameters must be right");
  console.log(JSON.stringify({ perSecond: Number(count) / (Number(process.hrtime.bigint() - began) / 1e9) }));
  process.exit(0);
}

const tools = new Map();
const open = new Map();
let calls = 0;

function take(view, message) {
  const answer = (fields) => view.send(JSON.stringify({ requestId: message.requestId, ...fields }));
  switch (message.type) {
    case "REGISTER_TOOLS":
      for (const tool of message.tools) {
        tools.set(tool.function.name, { view, tool, validate: ajv.compile(tool.function.parameters) });
      }
      return answer({ registered: message.tools.map((tool) => tool.function.name) });
    case "GET_TOOLS":
      return answer({ tools: [...tools.values()].map(({ tool }) => tool) });
    case "EXECUTE_TOOL": {
      const { toolName, parameters } = message.request;
      const known = tools.get(toolName);
      if (!known || !known.validate(parameters)) return answer({ result: { success: false, duration: 0 } });
      const callId = String(++calls);
      const began = Date.now();
      open.set(callId, (data) => answer({ result: { success: true, data, duration: Date.now() - began } }));
      return known.view.send(JSON.stringify({ type: "TOOL_CALL", callId, toolName, parameters }));
    }
    case "TOOL_RESULT": {
      const done = open.get(message.callId);
      open.delete(message.callId);
      return done?.(message.data);
    }
  }
}

const door = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
door.on("connection", (view) => view.on("message", (text) => take(view, JSON.parse(text))));
door.on("listening", () => console.log(JSON.stringify({ port: door.address().port })));
process.stdin.on("end", () => process.exit(0)).resume();
