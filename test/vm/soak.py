# SPDX-License-Identifier: Apache-2.0
"""Breaks nodes in every way that faults.py has, and writes doc/faults.md: what found it, what was done, and when the node
was back.                                                                   usage: soak.py [-d DIRECTORY] [FAULT...]

Each node takes one fault after the other. Between two it is mended by hand, and a person's word taken for it, until it
is well; where that does not help it gets new disks. Results are kept in DIRECTORY, so that a fault can be tried
again by itself.
"""
import json
import os
import pathlib
import platform
import queue
import subprocess
import sys
import threading
import time

from faults import FAULTS
from lab import BUILD, Lab, missing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LANES = 3
FOUND_S = 90  # a fault that nothing has said a word of by then was not found
BACK_S = 600  # a node that is not back by then does not come back by itself
OUTSIDE_S = 50  # how long a fault stands that only somebody outside can mend
QUIET_S = 90  # a node that went on working for so long after a fault was told is left in service, or back from one that recurs


class Trial:
    """One fault on one node, and its observations; times are seconds since it began."""

    def __init__(self, lab, machine, name):
        self.lab, self.machine, self.name, self.fault = lab, machine, name, FAULTS[name]
        before = self.health()
        self.known = {key for key, _ in self.findings(before)}
        self.tried_before = {a['at'] for a in before['repair']['attempts']} if before['repair'] else set()
        self.found, self.attempts, self.began = {}, set(), 0
        self.boot, self.ended = self.node()['Boot'], ''  # how that boot ended, as the node says on the next one
        self.well_since = None
        self.seen = {}  # silent, out, acted, mended, queue, back: when each was seen first

    def node(self):
        return self.lab.get(f'/v1/nodes/{self.machine.name}')['node']

    def health(self):
        return self.lab.get(f'/v1/health/{self.machine.name}')

    @staticmethod
    def findings(health):
        return [((i['group'], f['check'], f['code']), f['result']) for i in health['open'] if not i['observe'] for f in i['findings']]

    @staticmethod
    def step(health):
        return health['repair']['step'] if health['repair'] else 'none'

    def note(self, what):
        self.seen.setdefault(what, round(time.monotonic() - self.began, 1))

    def look(self):
        """Takes in how it stands; whether the node is in service and well, and what is open that was not."""
        node, health = self.node(), self.health()
        repair, step = health['repair'], self.step(health)
        new = [(key, result) for key, result in self.findings(health) if key not in self.known]
        for key, result in new:
            self.found.setdefault(key, (round(time.monotonic() - self.began, 1), result))
        for attempt in repair['attempts'] if repair else []:
            if attempt['at'] not in self.tried_before:
                self.attempts.add((attempt['at'], attempt['remedy']))
                self.note('acted')
        if node['Boot'] != self.boot and not self.ended:
            self.ended = node['LastBoot']
        if node['Liveness'] == 'silent':
            self.note('silent')
        if step == 'queue':
            self.note('queue')
        if (node['State'], node['Liveness']) != ('IDLE', 'live'):
            self.note('out')
        return (node['State'], node['Liveness'], node['Health'], step) == ('IDLE', 'live', 'ok', 'none'), \
            [(key, result) for key, result in new if (key[1], result) != ('node.boot', 'warn')]  # that stands for a day

    def over(self, serves, new):
        """Whether there is nothing more to wait for."""
        passed = time.monotonic() - self.began
        if self.fault.outside and passed > OUTSIDE_S and 'mended' not in self.seen:
            self.note('mended')
            self.fault.end(self.machine)
        if self.fault.outside and 'mended' not in self.seen:
            return False
        if 'out' not in self.seen:
            return passed > (self.first() + QUIET_S if self.found else FOUND_S)
        if not serves or new:
            self.well_since = None
        elif self.well_since is None:
            self.well_since = time.monotonic()
        if self.well_since is not None and time.monotonic() - self.well_since >= (QUIET_S if self.fault.recurs else 0):
            self.seen.setdefault('back', round(self.well_since - self.began, 1))
        return 'back' in self.seen or 'queue' in self.seen or passed > BACK_S

    def first(self):
        return min(at for at, _ in self.found.values())

    def run(self):
        self.began = time.monotonic()
        self.fault.begin(self.machine)
        while not self.over(*self.look()):
            time.sleep(0.5)
        return {'found': [[*key, at, result] for key, (at, result) in self.found.items()], 'seen': dict(self.seen),
                'done': [remedy for _, remedy in sorted(self.attempts)], 'ended': self.ended, 'load': round(os.getloadavg()[0], 1)}

    # --- and well again ---

    def wait_well(self, within):
        limit = time.monotonic() + within
        while time.monotonic() < limit:
            serves, _ = self.look()
            if serves and self.lab.get(f'/v1/nodes/{self.machine.name}')['node']['Work'] == 'idle':
                return True  # and has said so
            if self.step(self.health()) == 'queue':
                self.lab.fettle('queue', 'resolve', self.machine.name, '--reason', 'mended by hand', capture_output=True)
            time.sleep(2)
        return False

    def mend(self):
        try:
            if self.fault.end:
                self.fault.end(self.machine)
        except (OSError, RuntimeError, ValueError):
            pass  # it has another disk by now, or is off
        if self.wait_well(60):
            return True
        self.machine.stop()
        self.machine.forget()
        self.machine.start()
        return self.wait_well(400)


def lane(lab, machine, waiting, results, lock):
    while True:
        try:
            name = waiting.get_nowait()
        except queue.Empty:
            return
        trial = Trial(lab, machine, name)
        result = trial.run()
        with lock:
            results[name] = result
            (lab.dir / 'faults.json').write_text(json.dumps(results, indent=1))
            print(f'{name} on {machine.name}: {outcome(name, result)[-1]}', result, flush=True)
        if not trial.mend():
            print(f'{machine.name} does not get well any more', flush=True)
            return


# --- the table ---


def seconds(value):
    return '' if value is None else f'{value:.0f} s'


def outcome(name, result):
    """The cells of its row."""
    seen, found, unseen = result['seen'], sorted(result['found'], key=lambda f: f[3]), FAULTS[name].unseen
    by = [f'{word} `{code or check}`' + (f' ({group})' if group else '') for group, check, code, _, word in found]
    first = found[0][3] if found else seen.get('out')
    if not found and first is not None:
        by = ['silent' if 'silent' in seen else 'late']
    tries = {remedy: result['done'].count(remedy) for remedy in result['done']}
    done = ', then '.join(remedy + (f' ({n} times)' if n > 1 else '') for remedy, n in tries.items())
    if 'back' in seen and 'mended' in seen:
        end = f"in service {seconds(seen['back'] - seen['mended'])} after somebody mended it"
    elif 'back' in seen:
        end = 'back in service by itself'
    elif 'queue' in seen:
        end = f"waits for a person after {seconds(seen['queue'])}"
    elif 'out' in seen:
        end = f'not back within {BACK_S} s'
    else:
        end = 'told, and left in service' if found else f'not found: {unseen}' if unseen else 'not found'
    if seen.get('silent', BACK_S) < seen.get('acted', 0):
        end += f"; silent after {seconds(seen['silent'])}"
    why = result.get('ended', '')
    if why.partition(':')[0] in ('panic', 'watchdog', 'power'):
        end += f'; told as the cause: {why}'
    return [f'`{name}`', FAULTS[name].what, '<br>'.join(dict.fromkeys(by[:3])), seconds(first), done, seconds(seen.get('acted')),
            seconds(seen.get('back')), end]


def machine_words():
    with open('/proc/cpuinfo', encoding='utf-8') as f:
        model = next((line.split(':')[1].strip() for line in f if line.startswith('model name')), platform.machine())
    qemu = subprocess.run(['qemu-system-x86_64', '--version'], capture_output=True, text=True, check=True).stdout.split()[3]
    kernel = platform.release().partition('-')[0]
    return f'{model}, {os.cpu_count()} cores, Linux {kernel}; QEMU {qemu} without KVM'


def write(results):
    rows = [outcome(name, results[name]) for name in FAULTS if name in results]
    version = subprocess.run([BUILD / 'src/cli/fettle', '--version'], capture_output=True, text=True, check=True).stdout.strip()
    loads = [r['load'] for r in results.values()]
    table = '\n'.join('| ' + ' | '.join(row) + ' |' for row in rows)
    (ROOT / 'doc/faults.md').write_text(f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
# The fault, and its outcome

Written by `make soak` (test/vm/soak.py): nodes that really boot are broken in every way that QEMU, a BMC or a kernel
allows. The times are seconds from the fault: until the first finding was there, until the first remedy was chosen, and
until the node was back in service, tested. The lab's own times are short (a node is silent after 20 s, and remedies settle
for 30 s), and most of the rest is the time that a node takes to boot.

{time.strftime('%d %B %Y', time.gmtime())}, {version}. {machine_words()}, {LANES} nodes at a time; the load of
the machine was {min(loads)} to {max(loads)} meanwhile; on one that is free a node boots in 15 s.
{len(rows)} of {len(FAULTS)} faults were tried.

| Fault | What it is | Found as | After | Remedies | After | Back after | Outcome |
|---|---|---|---|---|---|---|---|
{table}
""")


def main(words):
    if lacking := missing():
        print(f'skipped: this needs {lacking}')
        return 0
    directory = BUILD / 'vm'
    if words[:1] == ['-d']:
        directory, words = words[1], words[2:]
    lab = Lab(directory)
    kept = lab.dir / 'faults.json'
    results = json.loads(kept.read_text()) if words and kept.exists() else {}
    waiting, lock = queue.Queue(), threading.Lock()
    for name in words or FAULTS:
        waiting.put(name)
    try:
        machines = lab.up(LANES)
        for m in machines:
            lab.wait(m.name, 'Lifecycle=available', 600)
            lab.wait(m.name, 'Work=idle', 60)
        lanes = [threading.Thread(target=lane, args=(lab, m, waiting, results, lock)) for m in machines]
        for t in lanes:
            t.start()
        for t in lanes:
            t.join()
    finally:
        lab.down()
    write(results)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
