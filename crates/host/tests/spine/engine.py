#!/usr/bin/env python3
"""An engine for the tests: sessions in memory, a window of events, and every fault that a wire can have.

Written from the public description of such engines only, with the standard library only. A prompt says what happens:

    plan SEED        so many events, with faults that the seed chooses
    say N            N pieces of text without any fault
    ask              a question; what happens next depends on the answer
    edit             a question about a change of a.txt
    slow N           N pieces of text, ten milliseconds apart
    hold N           begins, and goes on with N pieces only when GET /_go says so

GET /_truth?session=ID gives what was really said, in this log and in those before it; GET /_seen what was asked of the
engine with its headers. GET /_down cuts every stream and lets none be opened until GET /_up; GET /_anew has every session
begin its log anew, with what was being done forgotten; GET /_refuse has it know no event's id any more.
"""

import argparse
import json
import random
import socket
import ssl
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

FAULTS = [
    "drop_before", "drop_after", "drop_within", "repeat", "swap", "skip", "lose", "conflict", "forget_ids", "stall",
    "split", "garbage", "end", "id_alone", "crlf", "comment", "late_answer", "lost_answer",
    "anew", "refuse_ids", "window",
]


class Session:
    def __init__(self, engine):
        self.engine = engine
        self.id = uuid.uuid4().hex
        self.events = []
        self.former = []
        self.life = 0
        self.floor, self.last = 1, 0
        self.refuses = False
        self.lost = set()
        self.plan = {}
        self.fired = set()
        self.conflicts = 0
        self.status = "starting"
        self.changed = threading.Condition()
        self.answers = {}
        self.inputs = []
        self.stop = False
        self.go = threading.Event()
        self.updated = int(time.time() * 1000)

    def say(self, kind, payload, turn, life=None):
        with self.changed:
            if life not in (None, self.life):
                return
            seq = len(self.events) + 1
            self.events.append({
                "id": str(uuid.uuid4()), "seq": seq, "type": kind, "session_id": self.id, "turn": turn,
                "timestamp": time.time(), "timestamp_ms": int(time.time() * 1000), "protocol_version": "1.0",
                "payload": payload,
            })
            self.updated = int(time.time() * 1000)
            self.changed.notify_all()

    def first(self):
        return max(self.floor, len(self.events) - self.engine.window + 1)

    def begin_anew(self, at, life):
        """The log begins anew with what it had from here on, under other numbers and other names."""
        with self.changed:
            if life != self.life:
                return
            self.former.append(self.events)
            kept, by = self.events[at - 1:], at - 1
            self.events = [dict(event, id=str(uuid.uuid4()), seq=event["seq"] - by) for event in kept]
            self.lost = {seq - by for seq in self.lost if seq > by}
            self.plan = {seq - by: faults for seq, faults in self.plan.items() if seq > by}
            self.fired = {(seq - by, fault) for seq, fault in self.fired if seq > by}
            self.floor, self.last = 1, self.last - by
            self.life += 1
            self.changed.notify_all()

    def run(self, content, message_id):
        turn = len(self.inputs)
        self.status, self.stop = "running", False
        named = {"text": content}
        if self.engine.names:
            named["message_id"] = message_id
        self.say("user_message", named, turn)
        self.say("turn_start", {}, turn)
        words, life = content.split(), self.life
        if words[:1] == ["plan"]:
            self.carry_out(int(words[1]), turn)
            life = None
        elif words[:1] in (["say"], ["slow"], ["hold"]):
            if words[0] == "hold":
                self.say("assistant_delta", {"message_id": f"m{turn}", "text": "[begun]"}, turn)
                self.go.wait(60)
            for number in range(int((words + ["3"])[1])):
                if self.stop:
                    break
                self.say("assistant_delta", {"message_id": f"m{turn}", "text": f"[{number}]"}, turn, life)
                if words[0] == "slow":
                    time.sleep(0.01)
        elif words[:1] == ["ask"]:
            self.ask(turn, {"tool": "bash", "kind": "shell", "summary": "run ls", "command": "ls", "rule_suggestion": "ls *"})
        elif words[:1] == ["edit"]:
            self.ask(turn, {"tool": "write", "kind": "edit", "summary": "write a.txt", "path": "a.txt", "diff": "-old\n+new\n"})
        reason = "stopped" if self.stop else "completed"
        self.say("run_finished", {"eventCount": len(self.events), "reason": reason}, turn, life)
        self.status = "running"

    def ask(self, turn, what):
        request = f"permission_{turn}"
        self.say("permission_request", {"request_id": request, **what}, turn)
        with self.changed:
            self.changed.wait_for(lambda: request in self.answers or self.stop, 60)
        decision = self.answers.get(request, {}).get("decision", "none")
        self.say("permission_response", {"request_id": request, "decision": decision}, turn)
        self.say("assistant_delta", {"message_id": f"m{turn}", "text": f"[{decision}]"}, turn)

    def carry_out(self, seed, turn):
        chance = random.Random(seed)
        count = chance.randint(20, 60)
        base = len(self.events)
        self.last = base + count + 1
        for _ in range(chance.randint(1, 5)):
            fault = FAULTS[seed % len(FAULTS)] if not self.plan else chance.choice(FAULTS)
            at = base + chance.randint(1, count)
            self.plan.setdefault(at, []).append(fault)
            if fault == "lose":
                self.lost.add(at)
        for number in range(count):
            kind = chance.choice(["assistant_delta"] * 6 + ["assistant.reasoning.delta", "tool_call", "tool_result",
                                                            "ctree_node", "warning", "reward_update"])
            payload = {"message_id": f"m{turn}", "text": f"[{number}] é \"q\"\n", "extra": {"n": number}}
            if kind.startswith("tool"):
                payload = {"call_id": f"c{number}", "tool": "bash", "call": {"cmd": "ls"}, "status": "ok", "error": False}
            elif kind == "warning":
                payload = {"message": f"careful {number}"}
            self.say(kind, payload, turn)
            if chance.random() < 0.2:
                time.sleep(0.001)


class Engine:
    def __init__(self, options):
        self.window, self.token, self.names = options.window, options.token, options.names
        self.beats = options.beats
        self.down, self.cuts = False, 0
        self.sessions = {}
        self.seen = []
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine = None

    def log_message(self, *_):
        pass

    def reply(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def route(self):
        url = urlparse(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        self.body = self.rfile.read(length) if length else b""
        query = {key: values[0] for key, values in parse_qs(url.query, keep_blank_values=True).items()}
        if url.path.startswith("/_"):
            return self.inner(url.path, query)
        with self.engine.lock:
            self.engine.seen.append({"method": self.command, "path": self.path, "headers": dict(self.headers),
                                     "body": self.body.decode("utf-8", "replace")[:2000]})
        if self.engine.token and self.headers.get("Authorization") != f"Bearer {self.engine.token}":
            return self.reply(401, {"code": "unauthorized", "message": "no"})
        parts = url.path.strip("/").split("/")
        if parts == ["v1", "health"]:
            features = {"message_id": True} if self.engine.names else {}
            return self.reply(200, {"status": "ok", "protocol_version": "1.0", "engine_version": "t", "features": features})
        if parts == ["v1", "sessions"]:
            return self.create() if self.command == "POST" else self.list()
        session = self.engine.sessions.get(parts[2]) if len(parts) > 2 else None
        if session is None:
            return self.reply(404, {"code": "not_found", "message": "no such session"})
        rest = "/".join(parts[3:])
        if rest == "":
            if self.command == "DELETE":
                self.engine.sessions.pop(session.id, None)
                return self.reply(204)
            return self.reply(200, {"session_id": session.id, "status": session.status})
        if rest == "input":
            return self.input(session)
        if rest == "command":
            return self.order(session)
        if rest == "attachments":
            return self.reply(200, {"attachments": [{"id": "att-1", "name": "f", "size": len(self.body)}]})
        if rest == "files":
            return self.reply(200, {"entries": [{"name": "a.txt", "path": "a.txt", "kind": "file", "size": 3}]})
        if rest == "files/content":
            return self.reply(200, {"path": query.get("path"), "content": "abc", "truncated": False, "total_bytes": 3,
                                    "total_lines": 1})
        if rest == "download":
            wanted = query.get("artifact", "")
            if wanted == "out/data.bin":
                return self.give(b"\x00\xff" * 1000)
            if wanted == "out/huge.bin":
                return self.give(b"0" * (16 * 1024 * 1024 + 1))
            return self.reply(404, {"code": "not_found", "message": "no such artifact"})
        if rest == "events":
            return self.events(session, query)
        return self.reply(404, {"code": "not_found", "message": "no such route"})

    do_GET = do_POST = do_DELETE = route

    def inner(self, path, query):
        session = self.engine.sessions.get(query.get("session", ""))
        if path == "/_truth":
            return self.reply(200, {"events": session.events, "former": session.former,
                                    "lost": sorted(session.lost)} if session else {})
        if path == "/_seen":
            return self.reply(200, {"seen": self.engine.seen})
        if path == "/_sessions":
            listed = {key: [text for text, _ in kept.inputs] for key, kept in self.engine.sessions.items()}
            return self.reply(200, {"sessions": listed})
        if path == "/_go":
            for kept in self.engine.sessions.values():
                kept.go.set()
            return self.reply(200, {})
        if path == "/_forget":
            self.engine.sessions.clear()
            return self.reply(200, {})
        if path in ("/_down", "/_up"):
            self.engine.down = path == "/_down"
            self.engine.cuts += 1
            return self.reply(200, {})
        if path == "/_anew":
            for kept in self.engine.sessions.values():
                kept.begin_anew(len(kept.events) + 1, kept.life)
                kept.go.set()
            return self.reply(200, {})
        if path == "/_refuse":
            for kept in self.engine.sessions.values():
                kept.refuses = True
            return self.reply(200, {})
        if path == "/_conflict":
            for kept in self.engine.sessions.values():
                kept.conflicts += 1
            return self.reply(200, {})
        return self.reply(404, {})

    def list(self):
        sessions = [{"session_id": key, "title": f"there {key[:4]}", "status": kept.status, "updated_at_ms": kept.updated}
                    for key, kept in self.engine.sessions.items()]
        self.reply(200, {"sessions": sessions})

    def create(self):
        session = Session(self.engine)
        self.engine.sessions[session.id] = session
        self.reply(201, {"session_id": session.id, "status": "starting"})

    def input(self, session):
        body = json.loads(self.body)
        content, name = body["content"], body.get("message_id")
        with session.changed:
            known = self.engine.names and any(name == before for _, before in session.inputs)
            if not known:
                session.inputs.append((content, name))
        if not known:
            threading.Thread(target=session.run, args=(content, name), daemon=True).start()
        words = content.split()
        if words[:1] == ["plan"]:
            fault = FAULTS[int(words[1]) % len(FAULTS)]
            if fault == "late_answer":
                time.sleep(0.3)
            if fault == "lost_answer" and not known:
                return self.cut()
        self.reply(202, {"turn_id": str(len(session.inputs)), "queued": False})

    def order(self, session):
        body = json.loads(self.body)
        with session.changed:
            if body["command"] == "stop":
                session.stop = True
            elif body["command"] == "permission_decision":
                session.answers.setdefault(body["payload"]["request_id"], body["payload"])
            else:
                return self.reply(400, {"code": "unknown_command", "message": "unknown command"})
            session.changed.notify_all()
        self.reply(202, {"status": "accepted", "detail": {}})

    def give(self, data):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:
            self.close_connection = True

    def cut(self):
        self.close_connection = True
        try:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        except OSError:
            pass
        self.connection.close()

    def events(self, session, query):
        if self.engine.down:
            return self.cut()
        since = self.headers.get("Last-Event-ID") or query.get("from_id")
        at = len(session.events)
        if since is not None:
            found = [event["seq"] for event in session.events if since in (event["id"], str(event["seq"]))]
            refused = not found or found[0] + 1 < session.first() or session.refuses
            if session.conflicts > 0:
                session.conflicts, refused = session.conflicts - 1, True
            if refused:
                return self.reply(409, {"code": "resume_window_exceeded", "first_seq": session.first(),
                                        "last_seq": len(session.events)})
            at = found[0]
        elif query.get("replay") == "true":
            at = session.first() - 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.follow(session, at)
        except OSError:
            self.close_connection = True

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def send_event(self, event, style):
        end = b"\r\n" if style == "crlf" else b"\n"
        data = b"id: %d%sdata: %s%s%s" % (event["seq"], end, json.dumps(event).encode(), end, end)
        if style == "split":
            for byte in range(len(data)):
                self.chunk(data[byte:byte + 1])
        elif style == "id_alone":
            line = data.index(b"\n") + 1
            self.chunk(data[:line])
            time.sleep(0.002)
            self.chunk(data[line:])
        else:
            self.chunk(data)

    def follow(self, session, at):
        held, life, cuts = None, session.life, self.engine.cuts
        said, waited = lambda: len(session.events) > at or session.life != life, 0
        while True:
            with session.changed:
                while not session.changed.wait_for(said, 0.05) and self.engine.cuts == cuts:
                    waited += 1
                    if self.engine.beats and waited % 20 == 0:
                        self.chunk(b": alive\n\n")
                if self.engine.cuts != cuts or session.life != life:
                    return self.cut()
                event = session.events[at]
            at += 1
            seq = event["seq"]
            if seq in session.lost:
                continue
            faults = [fault for fault in session.plan.get(seq, []) if (seq, fault) not in session.fired]
            session.fired.update((seq, fault) for fault in faults)
            if "drop_before" in faults:
                return self.cut()
            if "stall" in faults:
                time.sleep(0.5)
                return self.cut()
            if "conflict" in faults or "forget_ids" in faults:
                session.conflicts += 1
                return self.cut()
            if "anew" in faults:
                session.begin_anew(seq, life)
                return self.cut()
            if "refuse_ids" in faults:
                session.refuses = True
                return self.cut()
            if "window" in faults:
                with session.changed:
                    session.floor = max(session.floor, min(seq + 3, session.last))
                    session.changed.wait_for(lambda: len(session.events) >= session.floor, 10)
                return self.cut()
            if "skip" in faults:
                continue
            if "garbage" in faults:
                self.chunk(b"data: {\"broken\n\nnonsense\n: x\ndata: [1,2]\n\ndata: 5\n\n")
            if "comment" in faults:
                self.chunk(b": hello\n\nretry: 100\n")
            if "drop_within" in faults:
                self.chunk(b"id: %d\ndata: {\"id\"" % seq)
                return self.cut()
            if "swap" in faults and held is None:
                held = event
                continue
            style = next((fault for fault in faults if fault in ("split", "id_alone", "crlf")), "plain")
            self.send_event(event, style)
            if held is not None:
                self.send_event(held, "plain")
                held = None
            if "repeat" in faults:
                self.send_event(event, "plain")
            if "drop_after" in faults:
                return self.cut()
            if "end" in faults:
                self.wfile.write(b"0\r\n\r\n")
                return


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """A link that was cut on purpose is no news."""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--window", type=int, default=1000)
    options.add_argument("--token", default="")
    options.add_argument("--names", action="store_true")
    options.add_argument("--beats", action="store_true")
    options.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    options = options.parse_args()
    Handler.engine = Engine(options)
    server = Server(("127.0.0.1", options.port), Handler)
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    # Whoever started it holds its input; when that is gone, so is it.
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


main()
