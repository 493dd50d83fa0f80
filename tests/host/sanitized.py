"""The host tool with sanitizers (tests/unit/tarn/commands.c), for tests that make its inputs themselves."""
import atexit
import ctypes
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import traceback

import end_to_end as e2e
from trace_text import ORDERS, UUID, event_head, metadata  # noqa: F401

ROOT = e2e.guest.ROOT
OK, DAMAGE, USAGE = range(3)  # exit statuses
SCRATCH = tempfile.mkdtemp(prefix="tarn-unit-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def scratch(name):
    return os.path.join(SCRATCH, name)


class Tool:
    def __init__(self):
        self.files = scratch("output"), scratch("messages")
        self.process = subprocess.Popen([os.path.join(ROOT, "build/host/test/commands"), *self.files], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __call__(self, *words):
        return self.status(*words), *(open(path, errors="replace").read() for path in self.files)

    def status(self, *words):
        self.process.stdin.write("\t".join(map(str, words)).encode() + b"\n")
        self.process.stdin.flush()
        status = self.process.stdout.readline()
        assert status, f"the tool died in: tarn {' '.join(map(str, words))}"
        return int(status)

    def finish(self):
        """At the end of the test: the sanitizers report leaks now."""
        self.process.stdin.close()
        e2e.check(self.process.wait() == 0 and not _failures, "the sanitizers found nothing, and the other ends of links did not fail", _failures[:3])


_failures = []  # of the other ends of links
tarn = Tool()
atexit.register(tarn.finish)

_functions = ctypes.CDLL(os.path.join(ROOT, "build/host/wire.so"))


def crc(data):
    return _functions.wire_crc(bytes(data), ctypes.c_size_t(len(data))) & 0xffffffff


def xxhash(data):
    return _functions.wire_hash(bytes(data), ctypes.c_size_t(len(data))) & 0xffffffff


def write(path, *data):
    """Overwrites the file, whose pages are kept: truncating it first costs more than writing."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.ftruncate(file, os.writev(file, data))
    os.close(file)
    return path


class Peer:
    """The other end of a link: talk(connection) in a thread, for one connection after another. `source` leads there."""

    def __init__(self, talk, scheme="tcp", path=None):
        self.talk = talk
        if scheme == "tcp":
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.source = f"tcp:127.0.0.1:{self.listener.getsockname()[1]}"
        else:
            self.listener = socket.socket(socket.AF_UNIX)
            if os.path.exists(path):
                os.unlink(path)
            self.listener.bind(path)
            self.listener.listen(4)
            self.source = f"{scheme}:{path}"
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            with connection:
                try:
                    if self.listener.family == socket.AF_INET:
                        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self.talk(connection)
                except (ConnectionError, EOFError):
                    pass
                except Exception:
                    _failures.append(traceback.format_exc())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()


def receive(connection, size):
    data = connection.recv(size, socket.MSG_WAITALL) if size else b""
    if len(data) < size:
        raise EOFError
    return data
