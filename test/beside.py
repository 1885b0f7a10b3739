# SPDX-License-Identifier: Apache-2.0
"""Parts of a test side by side, each in a process of its own: most of them wait most of the time."""
import os
import signal
import sys
import tempfile
import traceback


def status_of(part):
    """The end of the process of a part."""
    try:
        return part() or 0
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def start(part, out):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
        os._exit(status_of(part))
    return pid


def beside(parts, at_once):
    """Calls these functions, by name, so many at a time. The exit statuses by name: what each returned, 1 after an exception.
    What one printed is printed when it has ended. This process may have no other children; when it is told to end,
    so are the parts."""
    waiting, running, statuses = list(parts), {}, {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                name, out = waiting.pop(0), tempfile.TemporaryFile()
                running[start(parts[name], out)] = name, out
            pid, status = os.wait()
            name, out = running.pop(pid)
            statuses[name] = os.waitstatus_to_exitcode(status)
            with out:
                out.seek(0)
                sys.stdout.write(out.read().decode(errors='replace'))
            sys.stdout.flush()
    finally:
        for pid in running:
            os.kill(pid, signal.SIGTERM)
        for pid in running:
            os.waitpid(pid, 0)
    return statuses
