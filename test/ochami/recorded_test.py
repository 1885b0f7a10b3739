#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Does the stand-in answer as the real servers did?  Sends each recorded request that the stand-in knows, in
the order of the recording, and compares status and body."""

import http.client
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "ochami"
# What the driver does not use, and the stand-in does not have.
UNKNOWN = re.compile(r"/service/(liveness|values)|/locks/|/Subscriptions/|/boot/v1/(bootscript|hosts|endpoint)|/health$"
                     r"|/power-status")
RECORDINGS = (("smd", "/smd", "recorded-v2.9.1-2023.jsonl", 35), ("bss", "/bss", "recorded-2023.jsonl", 11),
              ("pcs", "/pcs", "recorded-2024-12.jsonl", 9))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()


def shape(text, names):
    """The body as a value in which ids and times that differ each time are the same."""
    for mine, theirs in names.items():
        text = text.replace(mine, theirs)
    text = TIME.sub("TIME", text)
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip()
    if isinstance(value, dict):
        value.pop("detail", None) if value.get("status") == 500 else None
    for each in value if isinstance(value, list) else []:
        each.pop("cloud-init", None)
    if isinstance(value, dict) and str(value.get("detail", "")).startswith("Bad Request: invalid"):
        value["detail"] = "error decoding JSON"
    if isinstance(value, dict) and str(value.get("detail", "")).startswith("error decoding JSON"):
        value["detail"] = "error decoding JSON"
    return value


def replay(client, service, root, name):
    """The faults, and how many pairs were compared."""
    faults, compared, names = [], 0, {}
    for line in open(DATA / service / name, encoding="utf-8"):
        pair = json.loads(line)
        method, path, body = (pair["request"][k] for k in ("method", "path", "body"))
        if UNKNOWN.search(path):
            continue
        for mine, theirs in names.items():
            path = path.replace(theirs, mine)
        if method == "GET" and path.startswith("/transitions"):
            client.ask("PUT", "/test/transitions", '{"status": "completed", "failed": true}')
        status, text = client.ask(method, root + path, body)
        expected = pair["response"]
        if method == "POST" and path == "/transitions" and status == 200:
            names[json.loads(text)["transitionID"]] = json.loads(expected["body"])["transitionID"]
        compared += 1
        if (status, shape(text, names)) != (expected["status"], shape(expected["body"], {})):
            faults.append(f"{method} {path} {body}: {status} {text!r}, recorded {expected['status']} "
                          f"{expected['body']!r}")
    return faults, compared


def main():
    server = subprocess.Popen([sys.executable, "-B", HERE / "server.py"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        client = Client(int(server.stdout.readline()))
        faults = []
        for service, root, name, least in RECORDINGS:
            found, compared = replay(client, service, root, name)
            faults += found
            print(f"{service}: {compared} pairs")
            if compared < least:
                faults.append(f"{service}: only {compared} pairs of {least}")
    finally:
        server.stdin.close()
        server.wait(10)
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
