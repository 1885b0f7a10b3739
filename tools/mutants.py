# SPDX-License-Identifier: Apache-2.0
"""The mutants of a file of C: what it becomes when one place in one of its functions is broken. It reads formatted source
(tools/check-format), in which a blank stands on both sides of an operator with two operands."""

import re
from dataclasses import dataclass

import sources

PAIRS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "+=": "-=", "-=": "+="}
OPERATOR = re.compile(r"(?<=[\w)\]\"' ] )(<=?|>=?|[=!]=|&&|\|\||[-+]=?)(?= |$)", re.MULTILINE)
IF = re.compile(r"\bif (?=\()")
NOT = re.compile(r"(?<=[ (])!(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
TRUTH = re.compile(r"(?<=return )(?:true|false)(?=;)")
RESULT = re.compile(r"(?<=return )(?!true|false|NULL|0;|-?\d+;)[^;\n]+(?=;)")
STATEMENT = re.compile(r"(?<=^ )[ ]*(?!return|else|if|for|while|case|default|do|goto)[a-z_][\w.\[\]]*(?:->[\w.\[\]]+)*"
                       r"(?:\([^\n]*\)| [-+|&]?= [^\n]*|\+\+|--);$", re.MULTILINE)
# Places that a test cannot see, or only by their words: contracts, the log, sizes of arrays, the empty initializer.
UNSEEN = re.compile(r"\bassert\(|\blog_\w+\(|\{0\}|^\s+(?:static |const )*(?:struct \w+|char|int|unsigned|u?int\d+_t|size_t)"
                    r"[ *]+\w+\[\d*\][^=]*;$")


@dataclass(frozen=True)
class Mutant:
    """One place that is broken: text[start:end] of the file becomes put."""
    path: str
    function: str
    kind: str
    start: int
    end: int
    put: str
    line: int
    before: str
    after: str

    def applied(self, text):
        return text[:self.start] + self.put + text[self.end:]


def closing(masked, at):
    """Where the parenthesis that opens at a place closes."""
    depth = 0
    for place in range(at, len(masked)):
        depth += {"(": 1, ")": -1}.get(masked[place], 0)
        if depth == 0:
            return place
    raise ValueError("a parenthesis is not closed")


def places(masked, start, end):
    """(kind, start, end, what stands there then) of each place of a function's body."""
    for match in IF.finditer(masked, start, end):
        shut = closing(masked, match.end()) + 1
        yield "negate", match.end(), shut, None
    for match in OPERATOR.finditer(masked, start, end):
        yield "operator", match.start(1), match.end(1), PAIRS[match[1]]
    for match in NOT.finditer(masked, start, end):
        yield "drop !", match.start(), match.end(), ""
    for match in NUMBER.finditer(masked, start, end):
        yield "constant", match.start(), match.end(), str(int(match[0], 8 if match[0].startswith("0") else 10) + 1)
    for match in TRUTH.finditer(masked, start, end):
        yield "result", match.start(), match.end(), {"true": "false", "false": "true"}[match[0]]
    for match in RESULT.finditer(masked, start, end):
        yield "result", match.start(), match.end(), "0"
    for match in STATEMENT.finditer(masked, start, end):
        yield "statement", match.end() - len(match[0].lstrip()), match.end(), ";"


def lines_around(text, start, end):
    """The whole lines that hold a place: where they begin and end."""
    after = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if after < 0 else after


def squeezed(text):
    return " ".join(text.split())


def of_file(path, text):
    """Every mutant of a file, by place."""
    masked = sources.masked(text)
    starts = [0]
    for line in masked.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for function, _, opens, closes in sources.functions(masked.split("\n")):
        for kind, start, end, put in places(masked, starts[opens], starts[closes]):
            first, last = lines_around(text, start, end)
            if UNSEEN.search(masked[first:last]):
                continue
            put = f"(!{text[start:end]})" if put is None else put
            found.append(Mutant(path, function, kind, start, end, put, text.count("\n", 0, start) + 1, squeezed(text[first:last]),
                                squeezed(text[first:start] + put + text[end:last])))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.put))


class Known:
    """Mutants that were looked at and change nothing that can be seen. The list has for each a line "FILE FUNCTION", its line of
    code after "-", what it becomes after "+", and why nothing changes after "=". Blank lines and lines with "#" are skipped."""

    def __init__(self, text):
        self.reasons, where, before, after = {}, None, None, None
        for number, line in enumerate(text.splitlines(), 1):
            mark, rest = line[:2], squeezed(line[2:])
            if not line.strip() or line.startswith("#"):
                continue
            if mark == "- ":
                before, after = rest, None
            elif mark == "+ " and before is not None:
                after = rest
            elif mark == "= " and where and after is not None:
                self.reasons[(*where, before, after)] = rest
            elif len(line.split()) == 2 and "/" in line:
                where, before, after = tuple(line.split()), None, None
            else:
                raise ValueError(f"line {number} has no place here: {line}")

    def reason(self, mutant):
        return self.reasons.get((mutant.path, mutant.function, mutant.before, mutant.after))

    def stale(self, mutants):
        """Those that no file has any more."""
        there = {(m.path, m.function, m.before, m.after) for m in mutants}
        return [f"{key[0]} {key[1]}: {key[2]}" for key in self.reasons if key not in there]
