# SPDX-License-Identifier: Apache-2.0
"""Transcripts in documents: a test types what a reader would type, and compares what is printed.

In an indented block of a document, a line "$ COMMAND" is run by bash, with the lines "> MORE" right below it, and the lines below
these are what it prints. Of them,
"..." alone stands for any number of lines, and … within a line for anything. Empty lines are left out. Times, lengths of time, identifiers and what
tells one machine from another are not compared, nor is the width of columns. A comment behind a command says what to wait for:
"# until WORDS" repeats the command until WORDS are printed.

With FETTLE_GOLDEN=write in the environment, a block that is not what is printed is written anew.
"""
import os
import re
import time

from harness import TIMEOUT, Failed, check

INDENT = '    '
# The differences between two runs, in the order in which they are searched for.
VARIES = [(r'fettle1\.[0-9a-f.]+', 'TOKEN'), (r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?', 'TIME'),
          (r'\b[0-9a-f]{8}-[0-9a-f-]{27}\b', 'UUID'), (r'\b(list_|fp_)?[0-9a-f]{8,64}\b', 'HASH'),
          (r'\b(\d+(\.\d+)?\s?(ms|s|min|m|h|d)\b)+', 'SPAN'), (r'\b\d+\.\d+(\.\d+)?\b', 'ID'),
          (r'\b\d{4,}\b', 'NUMBER'), (r'-{2,}', '--'), (r'\s+', ' ')]


def steps(text):
    """(last line of the command, command, words to wait for, lines that it prints) of a document."""
    lines, found = text.split('\n'), []
    for i, line in enumerate(lines):
        if line.startswith(INDENT + '$ '):
            command, _, until = line[len(INDENT) + 2:].partition('# until ')
            found.append([i, command.strip(), until.strip(), []])
        elif found and line.startswith(INDENT + '> ') and found[-1][0] + 1 == i:
            found[-1][:2] = i, found[-1][1] + '\n' + line[len(INDENT) + 2:]
        elif found and line.startswith(INDENT) and found[-1][0] + len(found[-1][3]) + 1 == i:
            found[-1][3].append(line[len(INDENT):])
    return found


def alike(line):
    for pattern, word in VARIES:
        line = re.sub(pattern, word, line)
    return line.strip()


def matches(wanted, printed):
    """Whether these lines are what a document has, "..." and … included."""
    forms = [r'(?:[^\n]*\n)*' if w.strip() == '...' else '.*'.join(map(re.escape, alike(w).split('…'))) + r'\n' for w in wanted]
    return re.fullmatch(''.join(forms), ''.join(alike(p) + '\n' for p in printed)) is not None


class Transcript:
    """A document whose commands are run in `cwd`; `names` maps words of the document to those of this machine."""

    def __init__(self, world, path, cwd, env=None, names=None):
        self.world, self.path, self.cwd, self.env, self.names = world, path, cwd, env or {}, names or {}
        with open(path) as f:
            self.text = f.read()

    def run(self, command):
        for ours, here in self.names.items():
            command = command.replace(ours, here)
        _, out, err = self.world.run(['bash', '-c', command], cwd=self.cwd, env=self.env)
        text = out + err
        for ours, here in self.names.items():
            if len(ours) > len(here):  # a table keeps its columns
                text = text.replace(here + ' ' * (len(ours) - len(here) + 2), ours + '  ')
            text = text.replace(here, ours)
        return [line for line in text.split('\n') if line.strip()]

    def step(self, command, until, wanted, writes):
        deadline = time.monotonic() + TIMEOUT
        while True:
            printed = self.run(command)
            came = until in '\n'.join(printed)
            if came and (writes or matches(wanted, printed)):
                return printed
            if not until or time.monotonic() > deadline:
                raise Failed(f'{os.path.basename(self.path)}: "{command}" prints\n' + '\n'.join(printed) +
                             '\n\nand the document has\n' + '\n'.join(wanted))
            time.sleep(0.1)

    def play(self):
        """Every step in order."""
        writes = os.environ.get('FETTLE_GOLDEN') == 'write'
        lines, found = self.text.split('\n'), steps(self.text)
        check(found, f'{self.path} has no commands')
        changes = []
        for at, command, until, wanted in found:
            printed = self.step(command, until, wanted, writes)
            if not matches(wanted, printed):
                changes.append((at, len(wanted), printed))
        for at, n, printed in reversed(changes):
            lines[at + 1:at + 1 + n] = [(INDENT + p).rstrip() for p in printed]
        if changes:
            with open(self.path, 'w') as f:
                f.write('\n'.join(lines))
