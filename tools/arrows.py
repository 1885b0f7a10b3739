# SPDX-License-Identifier: Apache-2.0
"""Which .c file uses which: what check-layers and measures share.

An arrow leads from one .c file to another when it names a function or a table that the other one defines. Includes do not say
that: a header may declare what several .c files define. What macros and rows of .tbl files define is not seen."""

import re
from pathlib import Path

import sources

# At the start of a line, but no type alone: what it is, its name, and what follows.
_DEFINED = re.compile(r"^(?!typedef\b)([a-z][\w \*]*?[ \*])(\w+)(?:\[[^;=]*\])*( = |\()", re.MULTILINE)
_PROTOTYPE = re.compile(r"^[a-z][^;{}=]*\([^;{}]*\);", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*|\b(?:struct|enum|union|goto)\s+\w+")
# A variable or parameter, which is not the function of that name in another file.
_DECLARED = re.compile(r"\b(?!return\b|else\b|case\b|sizeof\b)\w+ \**(\w+)(?=\s*[=;,)\[])")


class Source:
    """A .c file: what it defines for itself and for others, and which words of others may be in it."""

    def __init__(self, path, text):
        self.path, self.folder, self.name = path, str(path.parent)[len("src/"):], path.stem
        code = "\n".join(line for line in sources.code(text) if not line.startswith("#"))
        self.own, self.outer = set(), set()
        for head, name, _ in _DEFINED.findall(_PROTOTYPE.sub("", code)):
            (self.own if head.startswith("static") else self.outer).add(name)
        self.words = set(_WORD.findall(_MEMBER.sub("", code))) - set(_DECLARED.findall(code)) - self.own - self.outer


def read(root):
    """The .c files under src that are no tests, in order."""
    return [Source(path, (root / path).read_text()) for path in sources.files(root, {".c"}, "src")
            if not sources.is_test(path)]


def between(files):
    """path -> {path: a name for which it is used}."""
    where = {}
    for file in files:
        for name in file.outer:
            where.setdefault(name, {})[file.folder] = file
    arrows = {file.path: {} for file in files}
    for file in files:
        for word in sorted(file.words & where.keys()):
            homes = where[word]
            if file.folder in homes or len(homes) == 1:
                arrows[file.path][(homes.get(file.folder) or next(iter(homes.values()))).path] = word
    return arrows


def circles(arrows):
    """The groups, of two or more and sorted, in which everything leads to everything."""
    reach = {}
    for start in arrows:
        seen, todo = set(), [start]
        while todo:
            for to in arrows.get(todo.pop(), ()):
                if to not in seen:
                    seen.add(to)
                    todo.append(to)
        reach[start] = seen
    groups = {tuple(sorted(b for b in reach[a] if a in reach.get(b, ()))) for a in arrows if a in reach[a]}
    return sorted(group for group in groups if len(group) > 1)


def in_folders(arrows):
    """(folder, names of files) for each circle between the files of one folder."""
    found = []
    for folder in sorted({path.parent for path in arrows}):
        own = {path for path in arrows if path.parent == folder}
        found += [("/".join(folder.parts[1:]), [path.stem for path in group])
                  for group in circles({path: arrows[path].keys() & own for path in own})]
    return found
