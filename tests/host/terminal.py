"""A program on a terminal of its own, for tests of what people see and type."""
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

import end_to_end as e2e


class Terminal:
    """is_controlling: the program gets signals from it."""

    def __init__(self, *words, width=200, height=1000, stderr=None, is_controlling=True):
        self.master, self.slave = pty.openpty()
        self.before, self.bytes = termios.tcgetattr(self.slave), b""
        self.resize(width, height)
        self.process = subprocess.Popen(words, stdin=self.slave, stdout=self.slave, stderr=stderr or self.slave, start_new_session=True,
                                        preexec_fn=lambda: is_controlling and fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, width, height):
        self.size = width, height
        termios.tcsetwinsize(self.slave, (height, width))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.bytes += os.read(self.master, 65536)

    def text(self):
        return self.bytes.decode(errors="replace")

    def wait(self, pattern, seconds=100):
        """Waits until the program has printed PATTERN since the last key. Returns the match, or None."""
        end, match = time.monotonic() + seconds * e2e.PATIENCE, None
        while not match and time.monotonic() < end:
            self.read(0.2)
            match = self.text() and re.search(pattern, self.text(), re.M)
        return match

    def type(self, text):
        self.bytes = b""
        os.write(self.master, text.encode())
