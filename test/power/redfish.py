#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a BMC with Redfish, for no package of Debian has one: answers from a vendor's tree
(test/data/redfish), and keeps what is done to the power.  What it does otherwise than the vendor is said with
its options; whether it is like Redfish at all is asked by a client of somebody else's (redfish_test.py).

By hand:  redfish.py TREE PORT"""

import base64
import http.server
import json
import pathlib
import ssl
import sys
import threading

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "redfish"


class Bmc:
    """etag: PATCH needs If-Match.  task: a reset is 202, and a task that takes two looks.  late: so many looks
    until the power follows.  hang: nothing is answered.  lose: a reset is done and never answered.  changes:
    the ETag of the system is another one after the first look, once."""

    def __init__(self, tree, certificate=None, *, port=0, power="On", etag=False, task=None, late=0, hang=False,
                 lose=False, changes=False):
        self.tree = json.loads((DATA / f"{tree}.json").read_text())
        self.etag, self.task, self.late, self.hang, self.lose, self.changes = etag, task, late, hang, lose, changes
        self.system = next(v for v in self.tree.values() if "PowerState" in v)
        self.system["PowerState"] = self.wanted = power
        self.tags, self.looks, self.log, self.boot, self.requests = 0, 0, [], None, 0
        self.released = threading.Event()
        bmc = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                size = int(self.headers.get("Content-Length") or 0)
                bmc.answer(self, self.rfile.read(size))

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.port = self.server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def end(self):
        self.released.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    # --- the state ---

    def look(self):
        """The power follows what was asked for after some looks."""
        if self.system["PowerState"] != self.wanted:
            self.looks += 1
            if self.looks > self.late:
                self.system["PowerState"] = self.wanted

    def reset(self, kind):
        self.log.append(kind)
        self.looks = 0
        self.wanted = "Off" if kind == "ForceOff" else "On"
        if kind == "PowerCycle" and self.late:
            self.system["PowerState"] = "Off"

    def allowed(self):
        reset = self.system["Actions"]["#ComputerSystem.Reset"]
        if "ResetType@Redfish.AllowableValues" in reset:
            return reset["ResetType@Redfish.AllowableValues"]
        return self.tree[reset["@Redfish.ActionInfo"]]["Parameters"][0]["AllowableValues"]

    def tag(self):
        return f'W/"{self.tags:08x}"'

    # --- requests ---

    def answer(self, request, body):
        self.requests += 1
        if self.hang:
            self.released.wait()
            request.close_connection = True
            return
        expected = "Basic " + base64.b64encode(b"admin:s3cret").decode()
        if request.path not in ("/redfish", "/redfish/v1", "/redfish/v1/") and \
                request.headers.get("Authorization") != expected:
            self.refuse(request, 401, "Base.1.8.NoValidSession", "no valid session")
            return
        {"GET": self.get, "POST": self.post, "PATCH": self.patch}[request.command](request, body)

    def get(self, request, body):
        path = request.path
        if path == "/redfish":
            self.say(request, 200, {"v1": "/redfish/v1/"})
        elif path == "/redfish/v1/TaskService/TaskMonitors/1":
            self.task_looks = self.task_looks - 1
            if self.task_looks > 0:
                self.say(request, 202, {})
            else:
                self.say(request, 200, self.task_end())
        elif path == "/redfish/v1/TaskService/Tasks/1":
            self.task_looks = self.task_looks - 1
            self.say(request, 200, {"@odata.id": path, "TaskState": "Running"} if self.task_looks > 0
                     else self.task_end())
        elif path in self.tree or (path == "/redfish/v1/" and "/redfish/v1" in self.tree):
            thing = self.tree.get(path) or self.tree["/redfish/v1"]
            headers = {}
            if thing is self.system:
                self.look()
                headers = {"ETag": self.tag()} if self.etag else {}
                if self.changes:
                    self.changes, self.tags = False, self.tags + 1
            self.say(request, 200, thing, headers)
        elif path.rstrip("/") in self.tree or path + "/" in self.tree:
            self.say(request, 308, None, {"Location": path + "/"})
        else:
            self.refuse(request, 404, "Base.1.8.ResourceMissingAtURI", f"the resource at {path} was not found")

    def task_end(self):
        if self.task == "fails":
            return {"TaskState": "Exception", "TaskStatus": "Critical",
                    "Messages": [{"MessageId": "x", "Message": "the fan wall\nsays no"}]}
        self.reset(self.pending)
        return {"TaskState": "Completed", "TaskStatus": "OK"}

    def post(self, request, body):
        if request.path != self.system["Actions"]["#ComputerSystem.Reset"]["target"]:
            self.refuse(request, 404, "Base.1.8.ResourceMissingAtURI", "no such action")
            return
        kind = json.loads(body)["ResetType"]
        if kind not in self.allowed():
            self.refuse(request, 400, "Base.1.8.ActionParameterNotSupported", f"{kind} is not supported")
        elif self.task:
            self.pending, self.task_looks = kind, 2
            if self.task == "body":
                self.say(request, 202, {"@odata.id": "/redfish/v1/TaskService/Tasks/1", "TaskState": "New"})
            else:
                self.say(request, 202, None, {"Location": self.url + "/redfish/v1/TaskService/TaskMonitors/1"})
        else:
            self.reset(kind)
            if self.lose:
                request.close_connection = True
                return
            self.say(request, 204, None)

    def patch(self, request, body):
        boot = json.loads(body).get("Boot", {})
        if request.path != self.system["@odata.id"]:
            self.refuse(request, 404, "Base.1.8.ResourceMissingAtURI", "no such system")
        elif self.etag and not request.headers.get("If-Match"):
            self.refuse(request, 428, "Base.1.8.PreconditionRequired", "If-Match is needed")
        elif self.etag and request.headers["If-Match"] != self.tag():
            self.refuse(request, 412, "Base.1.8.PreconditionFailed", "the system has changed")
        elif "BootSourceOverrideTarget" not in self.system.get("Boot", {}):
            self.refuse(request, 400, "Base.1.8.PropertyUnknown", "BootSourceOverrideTarget is unknown")
        else:
            self.boot = boot
            self.log.append("Boot " + boot["BootSourceOverrideTarget"])
            self.system["Boot"].update(boot)
            self.tags += 1
            self.say(request, 200, self.system)

    # --- answers ---

    def refuse(self, request, status, ident, words):
        self.say(request, status, {"error": {"code": ident, "message": "See @Message.ExtendedInfo",
                                             "@Message.ExtendedInfo": [{"MessageId": ident, "Message": words}]}})

    @staticmethod
    def say(request, status, value, headers=None):
        body = json.dumps(value).encode() if value is not None else b""
        request.send_response(status)
        for name, text in (headers or {}).items():
            request.send_header(name, text)
        if status != 204:
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


if __name__ == "__main__":
    Bmc(sys.argv[1], port=int(sys.argv[2])).thread.join()
