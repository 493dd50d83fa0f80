# SPDX-License-Identifier: BSD-2-Clause
"""One processor of a guest that its host does not run: the thread of QEMU that does is held, as a debugger holds threads."""
import ctypes
import os
import threading

from end_to_end import guest

CONT, SEIZE, INTERRUPT, DETACH = 7, 0x4206, 0x4207, 17
WAIT_FOR_THREADS = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


class Starving:
    """While it lasts the CPU is held while the rest of the machine continues."""

    def __init__(self, machine, cpu):
        self.machine, self.cpu = machine, cpu
        self.thread = next(info["thread-id"] for info in machine.command("query-cpus-fast") if info["cpu-index"] == cpu)

    def __enter__(self):
        ptrace(SEIZE, self.thread)
        for _ in range(10):
            ptrace(INTERRUPT, self.thread)
            os.waitpid(self.thread, WAIT_FOR_THREADS)
            if self.machine_answers():
                return self
            ptrace(CONT, self.thread)  # it had QEMU's global lock
        raise guest.GuestError(f"without cpu {self.cpu} the machine stands still")

    def __exit__(self, *_):
        ptrace(DETACH, self.thread)

    def machine_answers(self):
        question = threading.Thread(target=self.machine.command, args=("query-status",), daemon=True)
        question.start()
        question.join(3 * self.machine.patience)
        return not question.is_alive()
