# SPDX-License-Identifier: Apache-2.0
"""A stand-in for SMD, BSS and PCS (test/ochami/server.py) in the process of the test, which can take it
away, look into it, and have the controller killed by it: after a request was carried out, and before it
is answered."""
import contextlib
import os
import socket
import sys
import threading

from fleet import alike, fleet
from harness import wait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../ochami'))
import server

UNTOUCHED = ('OK', '', False)


def xname(node):
    return f'x0c0s0b0n{int(node[1:])}'


class Server(server.Server):
    """One that can be closed with all its connections."""

    def __init__(self, *args):
        self.open = set()
        super().__init__(*args)

    def process_request(self, request, client_address):
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def cut(self):
        self.shutdown()
        self.server_close()
        for request in list(self.open):
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)


class Ochami:
    """The stand-in. What it keeps outlives a stop."""

    def __init__(self, world, nodes):
        self.state, self.carried_out = server.World(), None
        self.done = []  # requests that were not refused, as "METHOD PATH BODY"
        for node in nodes:
            self.state.test('PUT', f'/component/{xname(node)}', {})
        ochami = self

        class Handler(server.Handler):
            world = self.state

            def carry_out(self, service, path, query, raw):
                answer = super().carry_out(service, path, query, raw)
                if service != 'test':
                    ochami.done.append(f'{self.command} {self.path} {raw.decode()}')
                if ochami.carried_out:
                    ochami.carried_out(f'{self.command} {self.path}')
                return answer

        self.handler, self.port, self.server = Handler, 0, None
        self.start()
        world.cleanups.append(self.stop)

    def start(self):
        self.server = Server(('127.0.0.1', self.port), self.handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.cut()
        self.server = None

    def settings(self):
        return {f'OpenChami{name}': f'http://127.0.0.1:{self.port}{path}'
                for name, path in (('SMD', '/smd/hsm/v2'), ('BSS', '/bss/boot/v1'), ('PCS', '/pcs'))}

    def stands(self, node):
        """SMD's entry of a node: flag, status, whether it is in the group."""
        with self.state.lock:
            c, group = self.state.components[xname(node)], self.state.groups.get('drifted', {'ids': []})
            return c['Flag'], c.get('SoftwareStatus', ''), xname(node) in group['ids']

    def is_told(self, node):
        flag, status, member = self.stands(node)
        return flag == 'Warning' and status.startswith('drift:') and len(status) <= 32 and member

    def wait_stands(self, **wanted):
        wait(f'SMD has {wanted}', lambda: {n: self.stands(n) for n in wanted} == wanted)

    def requests(self, word=''):
        """Those that were carried out, with this in them."""
        with self.state.lock:
            return [r for r in self.done if word in r]

    def changes(self, node):
        """Those of them that changed something about a node."""
        said = [r for r in self.requests() if not r.startswith(('GET ', 'POST /smd/hsm/v2/State/Components/Query ',
                                                                'POST /smd/hsm/v2/locks/status '))]
        return [r for r in said if f'{xname(node)}/' in r or f'{xname(node)} ' in r or f'"{xname(node)}"' in r]


def told_fleet(world, names, **options):
    o = Ochami(world, names)
    nodes = ''.join(f'Name={n} Xname={xname(n)}\n' for n in names)
    c, agents = fleet(world, names, nodes=nodes, **o.settings(), **options)
    alike(c, names)
    return o, c, agents


class Killer:
    """Has the controller killed by requests that were carried out, before they are answered."""

    def __init__(self, o, c, chooses):
        self.c, self.chooses, self.armed, self.kills = c, chooses, True, 0
        o.carried_out = self.carried_out

    def carried_out(self, line):
        if self.armed and self.chooses(line):
            self.armed = False
            self.kills += 1
            self.c.process.kill()

    def revive(self):
        """For conditions: makes the controller anew when it was killed."""
        if self.c.process.status() is not None:
            self.c.start()
            self.armed = True
        return True

    def rest(self):
        """No more kills; the controller runs."""
        self.chooses = lambda line: False
        self.revive()
