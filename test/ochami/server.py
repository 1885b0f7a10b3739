#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for OpenCHAMI's SMD, BSS and PCS, for tests: it keeps what is written and answers as the real
servers were recorded to answer (test/data/ochami/*/recorded-*.jsonl; recorded_test.py holds it against
them).  It is not OpenCHAMI and knows only what Fettle's driver uses.

With the files of a certificate and its key as arguments it speaks TLS.  Prints its port, then answers /smd/hsm/v2, /bss/boot/v1 and /pcs on 127.0.0.1 until its standard input ends.
Beside them, /test answers the test itself:

    PUT  /test/mode/SERVICE   {"mode": MODE, "match": TEXT}: how SMD, BSS or PCS answer requests whose
                              "METHOD /path" contains TEXT: ok, slow, error (500), half, garbage, away
                              (the connection is closed unanswered), lost (as away, but it is carried out),
                              unavailable (503), unauthorized, refused (400), missing (404 that is no
                              problem document)
    PUT  /test/component/X    merged into the component; null deletes it
    GET  /test/requests       {"requests": ["METHOD /path", ...]} since the last time, without those of /test
    GET  /test/log            {"log": [{"method", "path", "body"}, ...]} of everything but /test
    PUT  /test/transitions    {"status":..., "failed": bool}: what all transitions that run come to; with
                              "at_once": bool, whether later ones are over as soon as they are made
"""

import datetime
import http.server
import json
import re
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

FLAGS = ["OK", "Warning", "Alert", "Locked", "Unknown"]
OPERATIONS = {"on": "On", "off": "Off", "soft-off": "Soft-Off", "soft-restart": "Soft-Restart",
              "hard-restart": "Hard-Restart", "init": "Init", "force-off": "Force-Off"}
XNAME = re.compile(r"x\d+c\d+s\d+b\d+n\d+")
TITLES = {400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
          500: "Internal Server Error"}


class Problem(Exception):
    def __init__(self, status, detail, headers=None):
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


class World:
    """What the three servers keep."""

    def __init__(self):
        self.lock = threading.RLock()
        self.components, self.groups, self.parameters, self.transitions = {}, {}, {}, {}
        self.modes, self.requests, self.log, self.at_once = {}, [], [], False

    # SMD

    def component(self, xname, status=404):
        if xname not in self.components:
            raise Problem(status, "no such xname." if status == 404 else "invalid xname ID")
        return self.components[xname]

    def post_components(self, body):
        for each in body["Components"]:
            self.components.setdefault(each["ID"], dict(each))
        return 204, None

    def put_component(self, xname, body):
        if body.get("Force") or xname not in self.components:
            self.components.setdefault(xname, {"ID": xname, "Type": "Node"}).update(body["Component"])
        return 204, None

    def patch_flag(self, xnames, body):
        if body.get("Flag") not in FLAGS:
            raise Problem(400, "a required argument did not match any valid input")
        for xname in xnames:
            self.component(xname, 400)["Flag"] = body["Flag"]
        return 204, None

    def patch_status(self, xnames, body):
        if len(body["SoftwareStatus"]) > 32:
            raise Problem(400, f"operation 'SoftwareStatus' failed for {xnames[0]}")
        for xname in xnames:
            self.component(xname, 400)["SoftwareStatus"] = body["SoftwareStatus"]
            if not body["SoftwareStatus"]:
                del self.components[xname]["SoftwareStatus"]
        return 204, None

    def patch_state(self, xnames, body):
        if body.get("State") == "Empty" and not body.get("Force"):
            raise Problem(400, "operation not allowed and not forced.")
        for xname in xnames:
            self.component(xname, 400).update(State=body["State"], Flag=body.get("Flag", "OK"))
        return 204, None

    def patch_other(self, xname, body):
        self.component(xname, 400).update(body)
        return 204, None

    def find_components(self, query):
        found = list(self.components.values())
        for key, field in (("type", "Type"), ("flag", "Flag"), ("state", "State")):
            if key in query:
                found = [c for c in found if c.get(field) == query[key]]
        if "group" in query:
            found = [c for c in found if c["ID"] in self.groups.get(query["group"], {"ids": []})["ids"]]
        return 200, {"Components": found}

    def lock_status(self, xnames):
        here = [self.components[x] for x in xnames if x in self.components]
        return 200, {"Components": [{"ID": c["ID"], **{k: c.get(k, False) for k in (
            "Locked", "Reserved", "ReservationDisabled")}} for c in here],
            "NotFound": [x for x in xnames if x not in self.components]}

    def post_group(self, body):
        if "label" not in body:
            raise Problem(400, "Missing group label")
        if body["label"] in self.groups:
            raise Problem(409, "operation would conflict with an existing group.")
        group = dict(body)
        self.groups[body["label"]] = {"group": group, "ids": list(body.get("members", {}).get("ids", []))}
        return 201, [{"URI": f"/hsm/v2/groups/{body['label']}"}]

    def group(self, label):
        if label not in self.groups:
            raise Problem(404, f"No such group: {label}")
        return self.groups[label]

    def get_group(self, label):
        g = self.group(label)
        return 200, {**g["group"], "members": {"ids": g["ids"]}}

    def post_member(self, label, body):
        ids, xname = self.group(label)["ids"], body["id"]
        if not XNAME.fullmatch(xname):
            raise Problem(400, "invalid xname ID")
        if xname in ids:
            raise Problem(409, "operation would conflict with an existing member in the same group.")
        if any(g["group"].get("exclusiveGroup") and xname in g["ids"] for g in self.groups.values()):
            raise Problem(409, "operation would conflict with an existing member in another exclusive group.")
        ids.append(xname)
        return 201, [{"URI": f"/hsm/v2/groups/{label}/members/{xname}"}]

    def delete_member(self, label, xname):
        ids = self.group(label)["ids"]
        if xname not in ids:
            raise Problem(404, "group has no such member.")
        ids.remove(xname)
        return 200, {"code": 0, "message": "deleted 1 entry"}

    def membership(self, xname):
        self.component(xname)
        return 200, {"id": xname, "partitionName": "",
                     "groupLabels": sorted(label for label, g in self.groups.items() if xname in g["ids"])}

    def smd(self, method, path, query, body):
        parts = path.strip("/").split("/")
        if parts[:2] == ["State", "Components"]:
            return self.smd_components(method, parts[2:], query, body)
        if parts == ["locks", "status"] and method == "POST":
            return self.lock_status(body["ComponentIDs"])
        if parts == ["groups"] and method == "POST":
            return self.post_group(body)
        if parts[0] == "groups" and len(parts) == 2 and method == "GET":
            return self.get_group(parts[1])
        if parts[0] == "groups" and parts[2:] == ["members"] and method == "POST":
            return self.post_member(parts[1], body)
        if parts[0] == "groups" and len(parts) == 4 and method == "DELETE":
            return self.delete_member(parts[1], parts[3])
        if parts[0] == "memberships" and method == "GET":
            return self.membership(parts[1])
        if path == "/service/ready":
            return 200, {"code": 0, "message": "HSM is healthy"}
        return None

    def smd_components(self, method, parts, query, body):
        bulk = {"BulkFlagOnly": self.patch_flag, "BulkStateData": self.patch_state,
                "BulkSoftwareStatus": self.patch_status}
        single = {"FlagOnly": self.patch_flag, "StateData": self.patch_state, "SoftwareStatus": self.patch_status}
        if not parts:
            return self.post_components(body) if method == "POST" else self.find_components(query)
        if parts[0] in bulk and method == "PATCH":
            return bulk[parts[0]](body["ComponentIDs"], body)
        if len(parts) == 2 and method == "PATCH":
            if parts[1] in single:
                return single[parts[1]](parts[:1], body)
            return self.patch_other(parts[0], body)
        if parts == ["Query"] and method == "POST":
            return 200, {"Components": [{k: v for k, v in self.components[x].items() if k != "Reserved"}
                                        for x in body["ComponentIDs"] if x in self.components]}
        if len(parts) == 1 and method == "GET":
            return 200, self.component(parts[0])
        if len(parts) == 1 and method == "PUT":
            return self.put_component(parts[0], body)
        if len(parts) == 1 and method == "DELETE":
            self.component(parts[0])
            del self.components[parts[0]]
            return 200, {"code": 0, "message": "deleted 1 entry"}
        raise Problem(405, "allow GET,PUT,DELETE", {"Allow": "GET,PUT,DELETE"})

    # BSS

    def bss(self, method, path, query, body):
        if path == "/service/status":
            return 200, {"bss-status": "running"}
        if path != "/bootparameters":
            return None
        if method == "GET":
            if query.get("name") not in self.parameters:
                raise Problem(404, "Cannot find boot parameters for requested Hosts")
            return 200, [{"hosts": [query["name"]], **self.parameters[query["name"]], "cloud-init": {"meta-data": None}}]
        given = {k: v for k, v in body.items() if k in ("kernel", "initrd", "params")}
        for host in body.get("hosts", []):
            if method == "POST" and host in self.parameters:
                raise Problem(400, f"Bad Request: Already exists: {host}")
            if method == "DELETE":
                self.parameters.pop(host, None)
            elif method == "PATCH":
                self.parameters.setdefault(host, {}).update(given)
            else:
                self.parameters[host] = given
        return 201 if method == "POST" else 200, ""

    # PCS

    def pcs(self, method, path, _query, body):
        parts = path.strip("/").split("/")
        if parts[0] in ("liveness", "readiness"):
            return 204, None
        if parts[0] != "transitions":
            return None
        if method == "POST":
            return self.post_transition(body)
        if len(parts) == 1:
            return 200, {"transitions": [{k: v for k, v in t.items() if k != "tasks"}
                                         for t in self.transitions.values()]}
        if parts[1] not in self.transitions:
            raise Problem(404, f"Key /transition/{parts[1]} does not exist")
        if method == "DELETE":
            raise Problem(400, "Transition is already finished and cannot be aborted.")
        return 200, self.transitions[parts[1]]

    def post_transition(self, body):
        operation = OPERATIONS.get(body.get("operation", "").lower())
        if not operation:
            raise Problem(400, f"invalid Operation type {body.get('operation')}")
        name = str(uuid.uuid4())
        now = datetime.datetime.now(datetime.timezone.utc)
        xnames = [each["xname"] for each in body["location"]]
        counts = {"total": len(xnames), "new": len(xnames), "in-progress": 0, "failed": 0, "succeeded": 0,
                  "un-supported": 0}
        self.transitions[name] = {
            "transitionID": name, "operation": operation,
            "createTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "automaticExpirationTime": (now + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "transitionStatus": "in-progress" if xnames else "completed", "taskCounts": counts,
            "tasks": [{"xname": x, "taskStatus": "new", "taskStatusDescription": ""} for x in xnames]}
        if self.at_once:
            self.finish_transitions("completed", False)
        return 200, {"transitionID": name, "operation": operation}

    def finish_transitions(self, status, failed):
        for t in self.transitions.values():
            if t["transitionStatus"] in ("completed", "aborted"):
                continue
            t["transitionStatus"] = status
            if status != "completed":
                continue
            n = len(t["tasks"])
            t["taskCounts"].update(new=0, failed=n if failed else 0, succeeded=0 if failed else n)
            for task in t["tasks"]:
                task["taskStatus"] = "failed" if failed else "succeeded"
                if failed:
                    task.update(taskStatusDescription="Failed to achieve transition", error="Missing xname")

    # The test

    def test(self, method, path, body):
        parts = path.strip("/").split("/")
        if parts[0] == "mode":
            self.modes[parts[1]] = body
        elif parts[0] == "component" and body is None:
            self.components.pop(parts[1], None)
        elif parts[0] == "component":
            c = self.components.setdefault(parts[1], {"ID": parts[1], "Type": "Node", "State": "On", "Flag": "OK",
                                                      "Enabled": True})
            c.update(body)
        elif parts[0] == "group":
            self.groups.setdefault(parts[1], {"group": {"label": parts[1]}, "ids": []})
            self.groups[parts[1]]["group"].update(body.get("group", {}))
            self.groups[parts[1]]["ids"] = body["ids"]
        elif parts[0] == "transitions":
            self.at_once = body.get("at_once", self.at_once)
            self.finish_transitions(body["status"], body.get("failed", False))
        elif parts[0] == "requests":
            requests, self.requests = self.requests, []
            return 200, {"requests": requests}
        elif parts[0] == "log":
            return 200, {"log": self.log}
        return 200, {}

    def mode(self, service, line):
        mode = self.modes.get(service, {})
        return mode.get("mode", "ok") if mode.get("match", "") in line else "ok"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world = World()
    roots = (("smd", "/smd/hsm/v2"), ("bss", "/bss/boot/v1"), ("pcs", "/pcs"), ("test", "/test"))

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=None, half=False):
        data = b"" if body is None or body == "" else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if half else data)
        if half:
            self.close_connection = True

    def close(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def carry_out(self, service, path, query, raw):
        w = self.world
        try:
            body = json.loads(raw) if raw else None
        except ValueError as e:
            status = 500 if service == "smd" else 400
            raise Problem(status, f"error decoding JSON {e}") from None
        if service == "test":
            return w.test(self.command, path, body)
        found = getattr(w, service)(self.command, path, query, body)
        if found is None:
            return 404, b"404 page not found\n"
        return found

    def respond(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        service, root = next(((s, r) for s, r in self.roots if path.startswith(r)), (None, ""))
        if not service:
            self.answer(404, b"404 page not found\n")
            return
        w = self.world
        line = f"{self.command} {path}"
        with w.lock:
            mode = w.mode(service, line)
            if service != "test":
                w.requests.append(line)
                w.log.append({"method": self.command, "path": self.path, "body": raw.decode(errors="replace")})
        if mode == "away":
            self.close()
            return
        if mode == "slow":
            time.sleep(2)
        fixed = {"error": (500, b'{"type":"about:blank","title":"Internal Server Error","detail":"no","status":500}'),
                 "garbage": (200, b"<html>It works!</html>"), "unavailable": (503, b"not now"),
                 "unauthorized": (401, b"invalid token"),
                 "refused": (400, b'{"type":"about:blank","title":"Bad Request","detail":"invalid Operation type"}'),
                 "missing": (404, b"404 page not found\n")}
        if mode in fixed:
            self.answer(*fixed[mode])
            return
        try:
            with w.lock:
                status, body = self.carry_out(service, path[len(root):], query, raw)
            headers = {"Content-Type": "application/json"}
        except Problem as p:
            status, headers = p.status, {"Content-Type": "application/problem+json", **p.headers}
            body = {"type": "about:blank", "title": TITLES[status], "detail": p.detail, "status": status}
        if mode == "lost" or mode == "half" and not body:
            self.close()
            return
        self.answer(status, body, headers, half=mode == "half")

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = respond


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # a client that went away


def main():
    server = Server(("127.0.0.1", 0), Handler)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
