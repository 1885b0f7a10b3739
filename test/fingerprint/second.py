#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A second implementation of fingerprints, written from doc/spec/fingerprint.md, held against the first.

usage: second.py ENCODE VECTORS [SEED [COUNT]]

ENCODE is the program that answers with what src/conform says. Both must give what stands in the golden
vectors, and agree on COUNT random lists: good ones, near ones, and such as are to be refused.
"""
import hashlib
import json
import pathlib
import random
import struct
import subprocess
import sys

VALUE, ABSENT, UNKNOWN = 0, 1, 2


class Refused(Exception):
    pass


# --- the second implementation ----------------------------------------------------------------------

def length_and(data):
    return struct.pack(">I", len(data)) + data


def one(component):
    name, state, value = component
    return length_and(name) + bytes([state]) + length_and(value)


def encoding(components):
    return b"fettle-fingerprint" + struct.pack(">II", 1, len(components)) + b"".join(map(one, components))


def component_hash(component):
    return hashlib.sha256(b"fettle-component" + struct.pack(">I", 1) + one(component)).hexdigest()


def checked(name, state, value):
    if not isinstance(value, str):
        raise Refused("a value that is no text")
    try:
        name, value = name.encode("utf-8"), value.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("half a surrogate pair")
    if not 1 <= len(name) <= 255 or any(not 0x21 <= c <= 0x7e or c in b'"\\' for c in name):
        raise Refused("no name")
    if len(value) > 4096 or 0 in value:
        raise Refused("no value")
    return name, state, value


def components_of(form):
    values, absent, unknown = form.get("components", {}), form.get("absent", []), form.get("unknown", {})
    if not isinstance(values, dict) or not isinstance(absent, list) or not isinstance(unknown, dict):
        raise Refused("another form")
    if not all(isinstance(name, str) for name in absent):
        raise Refused("another form")
    found = [checked(name, VALUE, value) for name, value in values.items()]
    found += [checked(name, ABSENT, "") for name in absent]
    found += [checked(name, UNKNOWN, why) for name, why in unknown.items()]
    found.sort()
    names = [name for name, _, _ in found]
    if len(set(names)) != len(names):
        raise Refused("a name stands twice")
    if len(found) > 16384 or sum(len(name) + len(value) for name, _, value in found) > 768 * 1024:
        raise Refused("too much")
    return found


def second(form):
    components = components_of(form)
    code = encoding(components)
    return {"encoding": code.hex(), "fingerprint": hashlib.sha256(code).hexdigest(),
            "hashes": {c[0].decode(): component_hash(c) for c in components}}


# --- lists to ask for --------------------------------------------------------------------------------

NAMES = ["a", "b", "ab", "a.b", "a=1", "a,b", "a|b", "{}", "kernel.release", "gpu.0000:3b:00.0.vbios", "nic.*",
         "x" * 255, "mount./", "file./etc/x~", "!", "~"]
VALUES = ["", "1", "a", "a=1", "b,a", "|", "\n", "a\nb", '"', "\\", "\t\r\x01\x7f", "é", "e\u0301", "€", "\U0001f600",
          "\ufffd", "\uffff", "v" * 4096, "é" * 2048, " ", "1 "]
BAD_NAMES = ["", "a b", "a\n", 'a"', "a\\", "é", "x" * 256, "\x7f", "a\u0000", "\ud800"]
BAD_VALUES = ["a\u0000b", "\ud800", "v" * 4097, "é" * 2049, None, 1, {}, []]


def a_list(rnd):
    form = {}
    for name in rnd.sample(NAMES, rnd.randint(0, len(NAMES))):
        kind = rnd.choice(["components", "components", "absent", "unknown"])
        if kind == "absent":
            form.setdefault(kind, []).append(name)
        else:
            form.setdefault(kind, {})[name] = rnd.choice(VALUES)
    return form


def damaged(rnd, form):
    kind = rnd.choice(["name", "value", "twice", "form"])
    if kind == "name":
        form.setdefault("components", {})[rnd.choice(BAD_NAMES)] = "1"
    elif kind == "value":
        form.setdefault(rnd.choice(["components", "unknown"]), {})["z"] = rnd.choice(BAD_VALUES)
    elif kind == "twice":
        form.setdefault("components", {})["z"] = ""
        form.setdefault("absent", []).append("z")
    else:
        form[rnd.choice(["components", "absent", "unknown"])] = rnd.choice([None, "a", 1, [1], [["a"]], {"a": 1}])
    return form


def large():
    """At each limit, and one above it."""
    yield {"absent": ["c%d" % i for i in range(16384)]}
    yield {"absent": ["c%d" % i for i in range(16385)]}
    whole = {"c%03d" % i: "v" * 4092 for i in range(192)}
    yield {"components": whole}
    yield {"components": dict(whole, c000="v" * 4093)}


# --- both sides --------------------------------------------------------------------------------------

def first(encode, forms, rnd):
    lines = "".join(json.dumps(form, ensure_ascii=has_half(form) or rnd.random() < 0.5) + "\n" for form in forms)
    out = subprocess.run([encode], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    return [None if line.startswith("! ") else json.loads(line) for line in out.splitlines()]


def has_half(form):
    return "\\ud800" in json.dumps(form)


def or_refused(form):
    try:
        return second(form)
    except Refused:
        return None


def main():
    encode, vectors = sys.argv[1], sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    rnd = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 600
    golden = [json.loads(path.read_text()) for path in vectors]
    lists = [a_list(rnd) if i % 3 else damaged(rnd, a_list(rnd)) for i in range(count)] + list(large())
    forms = [vector["list"] for vector in golden] + lists
    answers = first(encode, forms, rnd)
    faults = 0
    if not golden or len(answers) != len(forms):
        sys.exit("%d vectors, %d answers to %d lists" % (len(golden), len(answers), len(forms)))
    for path, vector, answer in zip(vectors, golden, answers):
        want = {"encoding": vector["encoding"], "fingerprint": vector["fingerprint"], "hashes": vector["hashes"]}
        for who, says in (("src/conform", answer), ("second.py", or_refused(vector["list"]))):
            if says != want:
                faults += 1
                print("%s: %s says %s" % (path.name, who, says))
    refused = 0
    for form, answer in zip(lists, answers[len(golden):]):
        says = or_refused(form)
        refused += says is None
        if says != answer:
            faults += 1
            print("%.2000s\n  src/conform: %.500s\n  second.py:   %.500s" % (json.dumps(form), answer, says))
    print("%d vectors, %d lists, %d of them refused, %d faults" % (len(golden), len(lists), refused, faults))
    sys.exit(1 if faults or refused in (0, len(lists)) else 0)


main()
