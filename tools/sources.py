# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree share: which files there are, and C without comments and strings."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def files(root, suffixes, under=None):
    """Paths relative to root of the files that git knows or would add, or of all when there is no git. No suffixes are all."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True, text=True).stdout.split("\0")
        paths = [Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [p.relative_to(root) for p in root.rglob("*") if not str(p.relative_to(root)).startswith("build")]
    return sorted(p for p in set(paths)
                  if (suffixes is None or p.suffix in suffixes) and (root / p).is_file() and (under is None or p.parts[0] == under))


def is_test(path):
    """Whether a file under src belongs to a test program."""
    return path.stem.endswith(("_test", "_fuzz"))


_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def _blank(match):
    """As many lines as were there; a string stays a string."""
    text = match.group()
    return ('""' if text[0] == '"' else "") + "\n" * text.count("\n") or " "


def code(text):
    """The lines of C source with comments gone and strings and characters emptied."""
    return _NOT_CODE.sub(_blank, text).split("\n")


_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


def masked(text):
    """C source with each character where it was: comments and directives are blanks, strings and characters are _."""
    def hide(match):
        found = match.group()
        if found[0] in "\"'":
            return found[0] + "_" * (len(found) - 2) + found[0]
        return re.sub(r"[^\n]", " ", found)
    return _DIRECTIVE.sub(hide, _NOT_CODE.sub(hide, text))


_NAME = re.compile(r"(\w+)\(")
_ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\s*(?=\w)")


def functions(lines):
    """(name, number of its first line, of its "{", of its "}") of each function in formatted C; lines count from 0."""
    start = 0
    for number, line in enumerate(lines):
        if line == "{":
            head = _ATTRIBUTE.sub("", " ".join(lines[start:number]))
            name = _NAME.search(head)
            if name:
                yield name[1], start, number, lines.index("}", number)
        elif not line.strip() or line.startswith(("#", "}")) or line.endswith(";"):
            start = number + 1


_PARSES = re.compile(r"(?:^|_)(?:parse|decode|read|scan)(?:_|$)")


def decision_folders(root):
    """The folders under src that tools/layers.txt calls decisions."""
    return set(re.findall(r"^decision\s+(\S+)", (root / "tools" / "layers.txt").read_text(), re.MULTILINE))


def decides(root):
    """A function that says whether a path under src lies in a folder of decisions."""
    pure = decision_folders(root)
    return lambda path: bool({path.parts[1], "/".join(path.parts[1:-1])} & pure)


def parses(names):
    """Whether a file whose functions have these names parses."""
    return any(_PARSES.search(name) for name in names)


def comments(text):
    """The lines of C source with only its comments and strings kept."""
    kept, at = [], 0
    for match in _NOT_CODE.finditer(text):
        kept.append("\n" * text.count("\n", at, match.start()) + " " + match.group())
        at = match.end()
    return "".join(kept).split("\n")


def parses_file(path):
    """Whether a file of C parses."""
    return parses(name for name, *_ in functions(code(path.read_text())))


def run(words, root):
    """Runs a program in the tree; where it fails, prints what it said and ends."""
    done = subprocess.run([str(word) for word in words], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{' '.join(str(word) for word in words)}: exit status {done.returncode}")
    return done.stdout


def compiled(build):
    """The files that meson compiles, each with its row of compile_commands.json."""
    rows = {}
    for row in json.loads((build / "compile_commands.json").read_text()):
        rows.setdefault(Path(os.path.normpath(Path(row["directory"]) / row["file"])), row)
    return rows


def compiler_words(row):
    """The words for the compiler in a row of compile_commands.json, but for sanitizers, counters and what is written."""
    kept, skips = [], 0
    for word in shlex.split(row["command"]):
        if skips:
            skips -= 1
        elif word in ("-o", "-MF", "-MQ"):
            skips = 1
        elif word not in ("-MD", "-c", "ccache", "cc", "gcc", "--coverage") and not word.startswith("-fsanitize"):
            kept.append(word)
    return kept


def root_of(argv):
    """The tree to look at: the argument, or the one that this file is in."""
    return Path(argv[1]).resolve() if len(argv) > 1 else Path(__file__).resolve().parent.parent


def finish(faults, what):
    """Prints the faults, or how much was good, and ends with the matching status."""
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"{what}: no faults")
    sys.exit(1 if faults else 0)
