#!/usr/bin/env python3
"""An ACP agent for the browser tests. What it does is the first word of the prompt; it needs no model and no account.

Started with `--sign-in`, it opens no session before somebody has signed in.
"""

import json
import sys
import time

SESSION = "s1"
MODES = [
    {"id": "ask", "name": "Always ask"},
    {"id": "plan", "name": "Plan only", "description": "Reads, and changes nothing"},
]
COMMANDS = [{"name": f"skill-{at}", "description": f"Does the thing number {at}"} for at in range(400)]
COMMANDS.insert(0, {"name": "review", "description": "Looks at a change", "input": {"hint": "path"}})
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "all", "name": "Yes, and all edits from now on", "kind": "allow_always"},
    {"optionId": "auto", "name": "Yes, and never ask again", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Agent:
    def __init__(self, sign_in):
        self.locked = sign_in
        self.asked = 0
        self.mode = "ask"
        self.cancelled = False

    def send(self, **fields):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **fields}) + "\n")
        sys.stdout.flush()

    def update(self, what, /, **fields):
        self.send(method="session/update", params={"sessionId": SESSION, "update": {"sessionUpdate": what, **fields}})

    def say(self, text):
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def request(self, method, **params):
        """Asks the host, and serves what else comes until the answer is there."""
        self.asked += 1
        name = f"ask-{self.asked}"
        self.send(id=name, method=method, params={"sessionId": SESSION, **params})
        while True:
            got = self.read()
            if got.get("id") == name and "method" not in got:
                return got
            self.serve(got)

    @staticmethod
    def read():
        line = sys.stdin.readline()
        if line == "":
            sys.exit(0)
        return json.loads(line)

    def serve(self, got):
        method, params = got.get("method"), got.get("params") or {}
        if method == "session/cancel":
            self.cancelled = True
            return
        if "id" not in got or method is None:
            return
        try:
            result = self.answer(method, params)
        except Refused as refused:
            self.send(id=got["id"], error={"code": refused.code, "message": str(refused)})
            return
        self.send(id=got["id"], result=result)
        if method in ("session/new", "session/load"):
            self.update("available_commands_update", availableCommands=COMMANDS)

    def answer(self, method, params):
        if method == "initialize":
            ways = [
                {"id": "account", "name": "Sign in with your account", "description": "Opens nothing; it is a test"},
                {"id": "login", "type": "terminal", "name": "Sign in from a terminal", "args": ["--login"]},
            ]
            return {
                "protocolVersion": 1,
                "agentInfo": {"name": "scripted", "version": "1"},
                "agentCapabilities": {"loadSession": False, "promptCapabilities": {"image": True}},
                "authMethods": ways if self.locked else [],
            }
        if method == "authenticate":
            self.locked = False
            return {}
        if method == "session/new":
            if self.locked:
                raise Refused(-32000, "Authentication required")
            return {"sessionId": SESSION, "modes": {"currentModeId": self.mode, "availableModes": MODES}}
        if method == "session/set_mode":
            self.mode = params["modeId"]
            self.update("current_mode_update", currentModeId=self.mode)
            return {}
        if method == "session/prompt":
            self.cancelled = False
            self.turn(params["prompt"])
            return {"stopReason": "cancelled" if self.cancelled else "end_turn"}
        raise Refused(-32601, f"Method not found: {method}")

    def turn(self, prompt):
        text = " ".join(part["text"] for part in prompt if part["type"] == "text")
        what = text.split(" ", 1)[0]
        {"edit": self.edit, "ask": self.ask, "run": self.run, "slow": self.slow}.get(what, lambda _: None)(text)
        for part in prompt:
            if part["type"] == "image":
                self.say(f"I see {part['mimeType']} of {len(part['data'])} letters. ")
        self.update("usage_update", used=1200, size=8000)
        self.say(f"That was {what} in mode {self.mode}.")

    def edit(self, _text):
        diff = {"type": "diff", "path": "/w/notes.txt", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"}
        self.update("tool_call", toolCallId="e", title="Edit notes.txt", kind="edit", status="in_progress")
        self.update("tool_call_update", toolCallId="e", status="completed", content=[diff])

    def ask(self, _text):
        call = {"toolCallId": "a", "title": "Delete the branch", "kind": "execute", "status": "pending"}
        answer = self.request("session/request_permission", toolCall=call, options=OPTIONS)
        outcome = answer.get("result", {}).get("outcome", {})
        self.say(f"You chose {outcome.get('optionId', outcome.get('outcome'))}. ")

    def run(self, text):
        command = text.split(" ", 1)[1]
        made = self.request("terminal/create", command=command)
        if "error" in made:
            self.say(f"It did not run: {made['error']['message']} ")
            return
        terminal = made["result"]["terminalId"]
        shown = [{"type": "terminal", "terminalId": terminal}]
        self.update("tool_call", toolCallId="t", title=command, kind="execute", status="in_progress", content=shown)
        ended = self.request("terminal/wait_for_exit", terminalId=terminal)
        self.request("terminal/release", terminalId=terminal)
        self.update("tool_call_update", toolCallId="t", status="completed")
        self.say(f"It ended with {ended.get('result', {}).get('exitCode')}. ")

    def slow(self, text):
        self.update("tool_call", toolCallId="s", title="Read everything", kind="read", status="in_progress")
        for at in range(int(text.split(" ")[1])):
            self.say(f"word-{at + 1} ")
            time.sleep(0.05)
        self.update("tool_call_update", toolCallId="s", status="completed")


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def main():
    print("starting, as agents do", file=sys.stderr, flush=True)
    agent = Agent("--sign-in" in sys.argv)
    while True:
        agent.serve(Agent.read())


if __name__ == "__main__":
    main()
