#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a man page of a template.

A template is a page in the man(7) language. A line "@NAME@" is replaced by what a table of the
source says, so that a page cannot tell anything else than the program does; "@version@" stands
for the version wherever it is.

usage: man.py SOURCE_DIR VERSION TEMPLATE > PAGE
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'.\'|[(),|]|[^\s(),|"\']+')


def read_table(path):
    """The rows of an X-macro table: (macro, [argument, ...]), strings without their quotes."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    rows, depth, macro, word = [], 0, None, None
    for token in TOKEN.findall(text):
        if token == "(" and depth == 0:
            rows.append((word, [""]))
            depth = 1
        elif depth == 0:
            word = token
        elif token == ")" and depth == 1:
            depth = 0
        elif token == "," and depth == 1:
            rows[-1][1].append("")
        else:
            depth += (token == "(") - (token == ")")
            if token[0] in "\"'":
                token = token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
            rows[-1][1][-1] += token
    if depth:
        raise SystemExit(f"{path}: a row without its end")
    return rows


def roff(text):
    """Plain text as it stands, also at the beginning of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def item(heading, text):
    return f".TP\n{heading}\n{text}\n"


def bold(text):
    return f"\\fB{roff(text)}\\fR"


def italic(text):
    return f"\\fI{roff(text)}\\fR"


def sentence(text):
    return roff(text[0].upper() + text[1:]) + ("" if text.endswith(".") else ".")


class Tables:
    def __init__(self, source):
        self.source = source

    def rows(self, path, macro):
        found = [args for name, args in read_table(self.source / path) if name == macro]
        if not found:
            raise SystemExit(f"{path} has no {macro}")
        return found

    # ---- fettle.conf

    def settings(self):
        kinds = {"TEXT": "text", "PATH": "absolute path", "NUMBER": "number", "SPAN": "time", "FLAG": "yes or no",
                 "HOSTS": "host list", "WORDS": "words with commas between"}
        page = ""
        for _, name, kind, default, low, high, unit, what in self.rows("src/controller/setting.tbl", "SETTING"):
            form = unit.replace(",", ", ") if kind == "CHOICE" else kinds[kind]
            if kind == "NUMBER":
                form += f" from {low} to {high}" + (f" {unit}" if unit == "%" else "")
            elif kind == "SPAN":
                form += f" from {low} s to {int(high) // 86400} d"
            text = f"{sentence(what)}\n.br\nForm: {roff(form)}."
            if default:
                text += f" Default: {bold(default)}."
            page += item(f"\\fB{name}\\fR", text)
        return page

    def flags(self):
        return "".join(item(bold(name), sentence(what)) for _, name, what in self.rows("src/base/log.tbl", "FLAG"))

    # ---- nodes

    def field_rows(self, wanted):
        page = ""
        for _, name, _, _, unit, settable, what in self.rows("src/node/field.tbl", "FIELD"):
            if wanted(settable == "true"):
                page += item(bold(name), sentence(what) + (f" In {roff(unit)}." if unit else ""))
        return page

    def fields(self):
        return self.field_rows(lambda settable: True)

    def settable(self):
        return self.field_rows(lambda settable: settable)

    def lifecycle(self):
        return "".join(
            item(bold(name), f"{sentence(what)} State: {idle if idle == busy else f'{idle}, {busy} while work runs'}.")
            for _, name, idle, busy, what in self.rows("src/node/lifecycle.tbl", "LIFECYCLE"))

    def claims(self):
        return "".join(item(bold(name), f"{sentence(what)} Made by {roff(who)}.")
                       for _, name, who, what in self.rows("src/cluster/claim.tbl", "CLAIM"))

    # ---- the tool

    def option_heading(self, letter, name, argument):
        value = f" {italic(argument)}" if argument else ""
        short = f"{bold('-' + letter)}{value}, " if letter != "0" else ""
        return f"{short}{bold('--' + name)}{value}"

    def options(self):
        return "".join(item(self.option_heading(letter, name, argument), sentence(what))
                       for _, letter, name, argument, what in self.rows("src/cli/command.tbl", "OPTION"))

    def commands(self):
        long = {symbol: "--" + name for symbol, _, name, _, _ in self.rows("src/cli/command.tbl", "OPTION")}
        page = ""
        for path, arguments, _, _, options, _, what in self.rows("src/cli/command.tbl", "COMMAND"):
            own = [bold(long[symbol]) for symbol in re.findall(r"OF\((\w+)\)", options)]
            text = sentence(what) + (f"\n.br\nOptions: {', '.join(own)}." if own else "")
            page += item(f"{bold('fettle ' + path)} {italic(arguments)}".rstrip(" "), text)
        return page

    def exits(self):
        names = defaultdict(list)
        for _, name, _, status in self.rows("src/base/err.tbl", "ERR"):
            names[int(status)].append(name)
        names[1].append("internal")
        return "".join(item(bold(str(status)), f"{roff(', '.join(names[status]))}.") for status in sorted(names))

    # ---- the library

    def functions(self):
        """The header itself, from its first declaration on: its comments are the reference."""
        header = (self.source / "include/fettle.h").read_text()
        body = header[header.index("enum {"):header.index("#ifdef __cplusplus\n}")]
        body = body.replace("FETTLE_API ", "").rstrip("\n")
        lines = [("\\&" if line.startswith((".", "'")) else "") + line.replace("\\", "\\e").replace("-", "\\-")
                 for line in body.split("\n")]
        return ".nf\n.ft CR\n" + "\n".join(lines) + "\n.ft\n.fi\n"


def main():
    source, version, template = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    tables = Tables(source)
    makers = {name: getattr(tables, name) for name in
              ("settings", "flags", "fields", "settable", "lifecycle", "claims", "options", "commands", "exits",
               "functions")}
    for number, line in enumerate(template.read_text().split("\n")[:-1], 1):
        directive = re.fullmatch(r"@(\w+)@", line)
        if directive and directive[1] not in makers:
            raise SystemExit(f"{template}:{number}: there is no table \"{directive[1]}\"")
        sys.stdout.write(makers[directive[1]]() if directive else line.replace("@version@", version) + "\n")


main()
