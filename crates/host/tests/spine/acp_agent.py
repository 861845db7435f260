"""An ACP agent that does what its prompts say. For tests: no model, no network, one thread."""

import json
import os
import sys

SESSIONS = "acp-sessions.json"
pending = {}
next_id = 0


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(session, **fields):
    send(method="session/update", params={"sessionId": session, "update": fields})


def say(session, text):
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(session, method, **params):
    """Asks the host and waits; gives the answer, or None if the prompt was cancelled meanwhile."""
    global next_id
    next_id += 1
    mine, cancelled = f"q{next_id}", False
    send(id=mine, method=method, params={"sessionId": session, **params})
    while True:
        got = read()
        if got.get("id") == mine and "method" not in got:
            return None if cancelled else got
        if got.get("method") == "session/cancel":
            cancelled = True
        elif "method" in got and "id" in got:
            send(id=got["id"], error={"code": -32603, "message": "busy"})


def remembered():
    try:
        with open(SESSIONS) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def remember(session, text):
    known = remembered()
    known.setdefault(session, []).append(text)
    with open(SESSIONS, "w") as file:
        json.dump(known, file)


OPTIONS = [
    {"optionId": "all", "name": "Always", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def permission(session):
    call = {"toolCallId": "c1", "title": "Touch a file", "kind": "execute", "rawInput": {"command": "touch it"}}
    answer = ask(session, "session/request_permission", toolCall=call, options=OPTIONS)
    outcome = answer["result"]["outcome"] if answer else {"outcome": "cancelled"}
    if outcome["outcome"] == "cancelled":
        return "cancelled"
    say(session, "chosen: " + outcome["optionId"])
    return "end_turn"


def write(session, path, content):
    answer = ask(session, "fs/write_text_file", path=os.path.abspath(path), content=content)
    if answer is None:
        return "cancelled"
    say(session, "written" if "result" in answer else "not written: " + answer["error"]["message"])
    return "end_turn"


def missing(session):
    answer = ask(session, "fs/read_text_file", path=os.path.abspath("nothing-here"))
    say(session, json.dumps(answer["error"], sort_keys=True))
    return "end_turn"


def terminal(session):
    made = ask(session, "terminal/create", command="sh", args=["-c", "echo out; exit 3"], cwd=os.getcwd())
    if made is None or "error" in made:
        say(session, "not run: " + (made or {}).get("error", {}).get("message", "cancelled"))
        return "end_turn"
    name = made["result"]["terminalId"]
    update(session, sessionUpdate="tool_call", toolCallId="t1", title="sh", content=[{"type": "terminal", "terminalId": name}])
    ended = ask(session, "terminal/wait_for_exit", terminalId=name)["result"]
    output = ask(session, "terminal/output", terminalId=name)["result"]
    ask(session, "terminal/release", terminalId=name)
    say(session, json.dumps({"exit": ended["exitCode"], "output": output["output"]}, sort_keys=True))
    return "end_turn"


def forever(session):
    say(session, "working")
    while True:
        got = read()
        if got.get("method") == "session/cancel":
            return "cancelled"


def prompt(session, blocks):
    text = blocks[-1]["text"]
    remember(session, text)
    if text == "crash":
        os._exit(7)
    if text == "recall":
        say(session, json.dumps(remembered().get(session)) + " in " + str(len(blocks)) + " blocks")
        return "end_turn"
    if text.startswith("write "):
        return write(session, text.split(" ")[1], "by hand\n")
    actions = {"permission": permission, "missing": missing, "terminal": terminal, "forever": forever}
    if text in actions:
        return actions[text](session)
    update(session, sessionUpdate="agent_thought_chunk", content={"type": "text", "text": "hm"})
    update(session, sessionUpdate="plan", entries=[{"content": "answer", "priority": "high", "status": "completed"}])
    update(session, sessionUpdate="tool_call", toolCallId="c0", title="Look", kind="read", status="completed")
    update(session, sessionUpdate="weather", sky="blue")
    for word in text.split(" "):
        say(session, word + " ")
    return "end_turn"


def signed_in():
    return os.environ.get("SIGN_IN") != "yes" or os.path.exists("signed-in")


def opened(request, session):
    modes = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
    result = {"modes": modes} if request["method"] != "session/new" else {"modes": modes, "sessionId": session}
    if os.environ.get("MODELS") == "yes":
        names = [{"modelId": "small", "name": "Small"}, {"modelId": "big", "name": "Big"}]
        result["models"] = {"currentModelId": "small", "availableModels": names}
    send(id=request["id"], result=result)


def main():
    count = 0
    how = os.environ.get("MEMORY", "resume")
    while True:
        got = read()
        method, params = got.get("method"), got.get("params", {})
        if method == "initialize":
            abilities = {"loadSession": how == "load", "sessionCapabilities": {"resume": {}} if how == "resume" else {}}
            ways = [{"id": "door", "name": "Open the door", "description": "Makes a file."}]
            send(id=got["id"], result={"protocolVersion": 1, "agentCapabilities": abilities, "authMethods": ways})
        elif method == "authenticate":
            open("signed-in", "w").close()
            send(id=got["id"], result={})
        elif method == "session/new" and not signed_in():
            send(id=got["id"], error={"code": -32000, "message": "Authentication required"})
        elif method == "session/new":
            count += 1
            opened(got, f"{os.getpid()}-{count}")
        elif method == "session/resume":
            opened(got, params["sessionId"])
        elif method == "session/load":
            for text in remembered().get(params["sessionId"], []):
                say(params["sessionId"], "replayed " + text)
            opened(got, params["sessionId"])
        elif method == "session/prompt":
            reason = prompt(params["sessionId"], params["prompt"])
            send(id=got["id"], result={"stopReason": reason})
        elif method == "session/set_model":
            send(id=got["id"], result={})
        elif "id" in got and method:
            send(id=got["id"], error={"code": -32601, "message": "Method not found"})


main()
