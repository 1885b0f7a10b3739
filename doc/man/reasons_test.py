#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of the tables of reasons has an entry in fettle-reasons(7), and each entry says what to do.

usage: reasons_test.py TREE PAGE
"""
import pathlib
import re
import sys

# The table, its macro, and which of its strings name the entry.
TABLES = (("src/node/why.tbl", "WHY", (0, 1)), ("src/node/lifecycle.tbl", "LIFECYCLE", (0,)), ("src/node/step.tbl", "STEP", (0,)),
          ("src/cluster/state/claim.tbl", "CLAIM", (0,)), ("src/cluster/command/command.tbl", "COMMAND", (0,)), ("src/watch/view/alarm.tbl", "ALARM", (0,)))


def rows(text, macro):
    """The strings of each row."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for row in re.split(rf"^{macro}\(", text, flags=re.MULTILINE)[1:]:
        yield re.findall(r'"((?:[^"\\]|\\.)*)"', row)


def entries(page):
    """(its name without fonts, its text) of each list item."""
    for item in re.split(r"^\.It ", page, flags=re.MULTILINE)[1:]:
        name, _, text = item.partition("\n")
        yield re.sub(r"\\f[BIR]", "", name).replace("\\-", "-"), text


tree, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
said = list(entries(page))
wrong = []
for path, macro, named in TABLES:
    found = list(rows((tree / path).read_text(), macro))
    if not found:
        wrong.append(f"{path} has no rows of {macro}")
    for row in found:
        name = "".join(row[i] for i in named)
        if not any(n == name and re.search(r"^\.Em To do :\n\S.{4,}", text, re.MULTILINE) for n, text in said):
            wrong.append(f'{path}: "{name}" has no entry in fettle-reasons(7) that says what to do')
print("\n".join(wrong) or f"{len(said)} entries")
sys.exit(1 if wrong else 0)
