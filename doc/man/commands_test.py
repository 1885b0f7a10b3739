#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No `fettle …` command that these documents name is refused as invalid: each gets as far as asking a controller, which is
not there, or reading a file.

usage: commands_test.py FETTLE DOCUMENT...    manual pages as they are built, and files that end in .md
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

INVALID = 2  # exit status


def in_page(text):
    text = re.sub(r"\\-", "-", text).replace("\\(aq", "'").replace("\\e", "\\")
    yield from re.findall(r"\\fB(fettle .*?)\\fR", text)
    for line in text.split("\n"):
        quoted = re.match(r"\.(?:Dl|It Ql|Ql) (fettle .*?)(?: [,.;:)])*$", line)
        if quoted or line.startswith("fettle "):
            yield quoted[1] if quoted else line


def in_markdown(text):
    yield from re.findall(r"`(fettle [^`]*)`", text)


def commands(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for command in in_markdown(text) if path.endswith(".md") else in_page(text):
        yield from (c.strip() for c in re.split(r"&&|;|\||>", command) if c.strip().startswith("fettle "))


def main():
    fettle, documents = os.path.abspath(sys.argv[1]), sys.argv[2:]
    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as empty:
        env = {**os.environ, "FETTLE_CONTROLLER": os.path.join(empty, "nobody.sock"), "HOME": empty}
        for path in documents:
            for command in commands(path):
                n += 1
                run = subprocess.run([fettle, *shlex.split(command)[1:]], capture_output=True, text=True, env=env, check=False,
                                     stdin=subprocess.DEVNULL, cwd=empty)
                if run.returncode == INVALID or run.returncode < 0:
                    wrong.append(f'{os.path.basename(path)}: "{command}" ends with {run.returncode}: {run.stderr.strip()}')
    print("\n".join(wrong) or f"{n} commands")
    return 1 if wrong or n == 0 else 0


sys.exit(main())
