#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Is every kind of call that the driver makes one that the services' OpenAPI files allow?

usage: contract_test.py CALLS DIRECTORY.  CALLS is the program that prints what the driver sends; DIRECTORY
has prism (npm's @stoplight/prism-cli, in the version of package-lock.json), a server made from such a file,
as tools/check installs it.  Without it the test is skipped, or fails where FETTLE_PRISM is "required"."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "ochami"
# The stand-in's root of each service, and the part of it that the file's paths do not have.
SERVICES = {"/smd/hsm/v2": "smd/swagger_v2.yaml", "/bss": "bss/swagger.yaml", "/pcs": "pcs/swagger.yaml"}
# SMD's file allows a to f in a group's name; the server (pkg/sm/groups.go) and its recording allow a to z.
SLIP = (r"pattern: '^[0-9a-f_\-.]{1,}$'", r"pattern: '^[0-9a-z_\-.]{1,}$'")
TIMEOUT_S = 60
# What each service has to refuse: else a server that takes everything would do.
WRONG = {
    "/smd/hsm/v2": [("PATCH", "/State/Components/x0c0s0b0n0", {"Flag": "Warning", "FlagMsg": "drift"}),
                    ("PATCH", "/State/Components/x0c0s0b0n0/FlagOnly", {"Flag": "Bogus"}),
                    ("POST", "/groups", {"description": "no label"})],
    "/bss": [("PUT", "/boot/v1/bootparameters", {"hosts": "not a list"}), ("GET", "/bootparameters", None)],
    "/pcs": [("POST", "/transitions", {"operation": "bogus", "location": [{"xname": "x0c0s0b0n0"}]}),
             ("GET", "/transitions/not-an-id", None)],
}
KINDS = {"GET /State/Components/X", "GET /memberships/X", "PATCH /State/Components/X/FlagOnly",
         "PATCH /State/Components/X/SoftwareStatus", "POST /groups", "POST /groups/drifted/members",
         "DELETE /groups/drifted/members/X", "GET /boot/v1/bootparameters", "PUT /boot/v1/bootparameters",
         "PATCH /boot/v1/bootparameters", "GET /transitions", "POST /transitions", "GET /transitions/ID"}


class Prism:
    """A server made from one OpenAPI file, on a port that the system gives."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, "mock", "-h", "127.0.0.1", "-p", "0", path],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said, self.port, self.begun = [], None, threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """To the end: prism ends when nobody hears what it says."""
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(r"is listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                self.begun.set()
        self.begun.set()

    def wait(self):
        self.begun.wait(TIMEOUT_S)
        if not self.port:
            sys.exit("prism does not start:\n" + "".join(self.said))

    def ask(self, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        return answer.status, text

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()


def without_slip(path, directory):
    """The path of a file like this one in which the known slip is none."""
    text = path.read_text(encoding="utf-8")
    copy = pathlib.Path(directory) / path.parent.name
    copy.write_text(text.replace(*SLIP), encoding="utf-8")
    return copy


def calls_of(program):
    """What the driver sent: each of it once, as (service, method, path, body)."""
    ended = subprocess.run([program], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    lines = [line for line in ended.stdout.splitlines() if line.startswith('{"log"')]
    if ended.returncode or not lines:
        sys.exit(f"{program}: {ended.stdout}{ended.stderr}")
    calls = {}
    for each in json.loads(lines[0])["log"]:
        root = next(r for r in SERVICES if each["path"].startswith(r))
        calls[root, each["method"], each["path"][len(root):], each["body"]] = None
    return list(calls)


def kind(method, path):
    path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", path.split("?")[0])
    return f"{method} {path.replace('x0c0s0b0n0', 'X')}"


def check(prisms, calls):
    faults = []
    for root, method, path, body in calls:
        status, text = prisms[root].ask(method, path, body)
        if not 200 <= status <= 299:
            faults.append(f"{method} {path} {body}: refused with {status} {text}")
    for root, wrongs in WRONG.items():
        for method, path, body in wrongs:
            status, _ = prisms[root].ask(method, path, json.dumps(body) if body else None)
            if status < 400:
                faults.append(f"{method} {path} {body}: is wrong and was answered {status}")
    missing = KINDS - {kind(method, path) for _, method, path, _ in calls}
    return faults + [f"the driver made no call {each}" for each in sorted(missing)]


def main():
    program = pathlib.Path(sys.argv[2]) / "node_modules" / ".bin" / "prism"
    if not program.exists():
        print(f"there is no prism in {sys.argv[2]}; tools/check installs it there with npm")
        sys.exit(1 if os.environ.get("FETTLE_PRISM") == "required" else 77)
    with tempfile.TemporaryDirectory() as directory:
        run(program, {root: without_slip(DATA / name, directory) for root, name in SERVICES.items()})


def run(program, files):
    prisms = {root: Prism(program, path) for root, path in files.items()}
    try:
        calls = calls_of(sys.argv[1])
        for prism in prisms.values():
            prism.wait()
        faults = check(prisms, calls)
    finally:
        for prism in prisms.values():
            prism.end()
    for fault in faults:
        print(fault)
    print(f"{len(calls)} calls, {sum(map(len, WRONG.values()))} wrong ones")
    sys.exit(1 if faults else 0)


main()
