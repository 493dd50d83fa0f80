# SPDX-License-Identifier: BSD-2-Clause
"""What threads wait for."""

NEVER = (1 << 64) - 1


class Waits:
    def __init__(self, kernel):
        self.kernel = kernel
        self.states = kernel.names("enum thread_state", "THREAD_BLOCKED_", "THREAD_")
        self.clock_hz = int(kernel.trace_info()["clock_hz"])

    def state(self, thread):
        number = int(thread["state"])
        return self.states.get(number, str(number))

    def class_name(self, lock_address):
        lock = self.kernel.at(lock_address, "struct spinlock")
        kind = int(lock["class"])
        return self.kernel.string(int(self.kernel.at(kind, "struct lock_class")["name"])) if kind else "?"

    def describe(self, address, thread):
        """What a thread waits for; empty if it does not wait, or if its state says all."""
        lock = int(thread["wait_lock"])
        if not lock:
            return ""
        deadline = int(thread["wait_deadline"])
        own = [address + self.kernel.offset_in("struct thread", name) for name in ("lock", "reply_lock")]
        until = f" until {deadline / self.clock_hz:.6f}" if deadline != NEVER and self.clock_hz else ""
        return ((self._own_wait(thread) if lock in own else self._queued_wait(lock, thread)) + until).strip()

    def _own_wait(self, thread):
        """In no queue: one of the thread's own locks covers the wait."""
        return f"fault at {int(thread['fault_address']):#x}" if self.state(thread) == "fault" else ""

    def _queued_wait(self, lock, thread):
        """An object's lock is its first member, except for threads."""
        kind = self.class_name(lock)
        if kind == "endpoint":
            number = int(self.kernel.at(lock, "struct endpoint")["number"])
            direction = "messages at" if self.state(thread) == "receive" else "a receiver at"
            return f"{direction} endpoint {number}"
        if kind == "notification":
            return f"notification {int(self.kernel.at(lock, 'struct notification')['number'])}"
        if kind == "futex bucket":
            return f"futex {int(thread['futex_address']):#x}"
        return f"{kind} {lock:#x}"
