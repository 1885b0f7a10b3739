# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree share: which files there are, and C without comments and strings."""

import re
import subprocess
import sys
from pathlib import Path


def files(root, suffixes, under=None):
    """Paths relative to root of the files that git knows or would add, or of all when there is no git."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=True, text=True).stdout.split("\0")
        paths = [Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [p.relative_to(root) for p in root.rglob("*") if not str(p.relative_to(root)).startswith("build")]
    return sorted(p for p in set(paths)
                  if p.suffix in suffixes and (root / p).is_file() and (under is None or p.parts[0] == under))


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


def comments(text):
    """The lines of C source with only its comments and strings kept."""
    kept, at = [], 0
    for match in _NOT_CODE.finditer(text):
        kept.append("\n" * text.count("\n", at, match.start()) + " " + match.group())
        at = match.end()
    return "".join(kept).split("\n")


def root_of(argv):
    """The tree to look at: the argument, or the one that this file is in."""
    return Path(argv[1]).resolve() if len(argv) > 1 else Path(__file__).resolve().parent.parent


def finish(faults, what):
    """Prints the faults, or how much was good, and ends with the matching status."""
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else f"{what}: no faults")
    sys.exit(1 if faults else 0)
