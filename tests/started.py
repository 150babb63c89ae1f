# SPDX-License-Identifier: Apache-2.0
"""Many starts of a program that is long to load: run() is subprocess.run() of it in a folder, by a process that has loaded it once (fork_server.cc).
Without the environment variable LEOPARD_FORK_SERVER_LIBRARY, the path of that library, each is a start of its own."""
import array
import atexit
import os
import socket
import struct
import subprocess
import tempfile

LIBRARY = os.environ.get("LEOPARD_FORK_SERVER_LIBRARY", "")
_servers = {}


class _Server:
    def __init__(self, program):
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            environment = {**os.environ, "LD_PRELOAD": LIBRARY, "LEOPARD_FORK_SERVER": str(theirs.fileno())}
            self.process = subprocess.Popen([program], pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        atexit.register(self.end)

    def run(self, command, folder, streams, timeout):
        """The exit code, or minus the number of the signal that has ended it."""
        words = [str(folder), str(len(command)), *map(str, command), *(f"{name}={value}" for name, value in os.environ.items())]
        self.ours.settimeout(timeout)
        self.ours.sendmsg([b"".join(os.fsencode(word) + b"\0" for word in words)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [stream.fileno() for stream in streams]))])
        status = self.ours.recv(4)
        if len(status) != 4:
            raise RuntimeError(f"the process that starts {command[0]} has ended")
        return os.waitstatus_to_exitcode(struct.unpack("i", status)[0])

    def end(self):
        self.ours.close()
        self.process.wait()


def run(command, folder, timeout=1200):
    """What subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout) returns."""
    if not LIBRARY:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    program = str(command[0])
    if program not in _servers:
        _servers[program] = _Server(program)
    with open(os.devnull, encoding="utf-8") as nothing, tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        try:
            code = _servers[program].run(command, folder, (nothing, out, err), timeout)
        except TimeoutError:
            server = _servers.pop(program)
            server.process.kill()  # and with it what it has started
            server.process.wait()
            raise subprocess.TimeoutExpired(command, timeout) from None
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, code, out.read(), err.read())
