# SPDX-License-Identifier: Apache-2.0
"""The lab's provisioning server: kernel, initrd, images and tokens by HTTP, and the time by SNTP.
                                                                          usage: provision.py DIRECTORY FETTLE

/boot.ipxe has a node that is wanted anew write the image; any other one boots from its disk. It is asked from the node's
own address. On the jobs' network the same server is something to reach.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import socketserver
import struct
import subprocess
import sys
import threading
import time

DIRECTORY, FETTLE = pathlib.Path(sys.argv[1]), sys.argv[2]
RUN, IMAGE = DIRECTORY / 'run', DIRECTORY / 'image'


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200 if text else 503)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        word, _, name = self.path.strip('/').partition('/')
        wanted = RUN / f"n{int(self.client_address[0].rsplit('.', 1)[1]) - 10}" / 'wanted-image'
        if word == 'boot.ipxe':
            image = ' vm.image=http://10.77.0.1:8080/netboot.gz' if wanted.exists() else ''
            line = (RUN / 'cmdline').read_text()
            self.answer(f'#!ipxe\nkernel vmlinuz initrd=initrd {line}{image}\ninitrd initrd\nboot\n')
        elif word == 'token' and re.fullmatch('n[0-9]+', name):
            out = subprocess.run([FETTLE, 'token', 'create', '--nodes', name, '--again', '--json'], capture_output=True, check=False,
                                 env={**os.environ, 'FETTLE_CONTROLLER': str(RUN / 'fettled.sock')})
            self.answer(json.loads(out.stdout)['token'] if out.returncode == 0 else '')
        elif word == 'imaged':
            wanted.unlink(missing_ok=True)
            self.answer('\n')
        elif word in ('vmlinuz', 'initrd', 'netboot.gz'):
            self.send_response(200)
            self.send_header('Content-Length', str((IMAGE / word).stat().st_size))
            self.end_headers()
            with open(IMAGE / word, 'rb') as f:
                shutil.copyfileobj(f, self.wfile, 1 << 20)
        else:
            self.send_error(404)


class Clock(socketserver.BaseRequestHandler):
    """A server of SNTP (RFC 4330), stratum 8."""

    def handle(self):
        question, back = self.request
        now = int((time.time() + 2208988800) * 2**32)  # from 1900 on
        if len(question) >= 48:
            back.sendto(struct.pack('>BBbbII4sQ8sQQ', 0x24, 8, 6, -20, 0, 0, b'LOCL', now, question[40:48], now, now), self.client_address)


threading.Thread(target=socketserver.ThreadingUDPServer(('10.77.0.1', 123), Clock).serve_forever, daemon=True).start()
threading.Thread(target=http.server.ThreadingHTTPServer(('10.78.0.1', 8081), Handler).serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(('10.77.0.1', 8080), Handler).serve_forever()
