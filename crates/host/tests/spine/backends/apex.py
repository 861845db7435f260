#!/usr/bin/env python3
"""An Apex backend for the tests: does what its prompt says and keeps a journal of all that it hears in heard.jsonl."""

import json
import os
import queue
import signal
import sys
import threading
import time

heard = queue.Queue()
out = sys.stdout.buffer


def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, value = line.split(b":", 1)
        length = int(value) if name.lower() == b"content-length" else length
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def listen():
    while (message := read()) is not None:
        with open("heard.jsonl", "a") as journal:
            journal.write(json.dumps(message) + "\n")
        heard.put(message)
    heard.put(None)


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out.write(b"Content-Type: application/vscode-jsonrpc\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    out.flush()


def piece(task, content, kind="text"):
    send(method="$/partialResult", params={"taskId": task, "content": content, "type": kind})


def work(asked):
    task, prompt = asked["params"]["taskId"], asked["params"]["prompt"]
    what = prompt.split()[-1]
    result = {"status": "completed"}
    if what == "turn":
        send(method="$/statusUpdate", params={"message": "reading", "progress": 0.5})
        send(method="$/logMessage", params={"type": "warn", "message": "a log line"})
        piece(task, "hm", "thought")
        piece(task, "let x = 1;\n", "code")
        piece(task, "the answer é")
        send(method="backend/mood", params={"mood": "good"})
        result["message"] = "a last word"
    elif what == "short":
        result["message"] = "only this"
    elif what == "tool":
        send(id="t-1", method="$/requestToolExecution",
             params={"toolCallId": "c1", "toolName": "read_file", "toolInput": {"path": "a"}})
        piece(task, json.dumps(heard.get()["error"]))
    elif what == "notified-tool":
        send(method="$/requestToolExecution", params={"toolCallId": "c2", "toolName": "read_file",
                                                      "toolInput": {"path": "noted.txt"}})
        piece(task, json.dumps(heard.get()["params"]))
    elif what == "unknown":
        send(id=9, method="editor/dance")
        piece(task, str(heard.get()["error"]["code"]))
    elif what == "fail":
        send(method="$/taskError", params={"taskId": task, "message": "no model", "details": {"http": 500}})
        send(id=asked["id"], error={"code": "PLAN_GENERATION_FAILED", "message": "no plan"})
        return
    elif what == "slow":
        piece(task, "begun")
        while (message := heard.get())["method"] != "$/cancelRequest":
            pass
        assert message["params"] == {"id": asked["id"]}
        send(id=asked["id"], error={"code": -32800, "message": "stopped"})
        return
    elif what == "deaf":
        piece(task, "begun")
        return
    elif what == "crash":
        piece(task, "half an ans")
        print("the last words of the backend", file=sys.stderr, flush=True)
        os._exit(3)
    elif what == "noise":
        out.write(b"Traceback (most recent call last):\n  nothing to see\n")
        piece(task, "one ")
        out.write(b"\nContent-Length: 9\r\n\r\n{not json")
        out.write(b"half a line")
        piece(task, "two")
    elif what == "huge":
        piece(task, "before ")
        out.write(b"Content-Length: 4294967296\r\n\r\n{}")
        out.flush()
        return
    elif what == "closed":
        piece(task, "before ")
        out.flush()
        os.close(1)
        time.sleep(600)
    elif what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        global stubborn
        stubborn = True
    else:
        piece(task, prompt)
    send(id=asked["id"], result=result)


stubborn = False
threading.Thread(target=listen, daemon=True).start()
while (message := heard.get()) is not None and message.get("method") != "shutdown":
    if message.get("method") == "executeTask":
        work(message)
while stubborn:
    time.sleep(600)
