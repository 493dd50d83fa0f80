# SPDX-License-Identifier: BSD-2-Clause
"""What threads wait for, endpoints and locks."""
import gdb

from tarn_gdb.kernel import RIGHT_RECEIVE, text

NEVER = (1 << 64) - 1


def process_label(space):
    return f"{text(space['name'])} ({int(space['pid'])})"


class Waits:
    def __init__(self, kernel):
        self.kernel = kernel
        self.threads = kernel.threads()
        self.states = kernel.names("enum thread_state", "THREAD_BLOCKED_", "THREAD_")
        self.numbers = {name: number for number, name in self.states.items()}
        self.clock_hz = int(kernel.trace_info()["clock_hz"])
        self.types = {name: number for number, name in kernel.names("enum cap_type", "CAP_").items()}
        self.servers = dict(self._promises())

    def _promises(self):
        """Servers of calls: ((caller, number of the call), name). A thread, or a process that deferred the reply."""
        for thread in self.threads.values():
            yield self._call(thread["reply_target"]), self.label(thread)
        for space in self.kernel.spaces().values():
            for kind, _, reply in self.kernel.capabilities(space):
                if kind == self.types["reply"]:
                    target = self.kernel.at(reply, "struct reply")["target"]
                    yield self._call(target), f"process {process_label(space)}"

    @staticmethod
    def _call(target):
        return int(target["caller"]), int(target["call_id"])

    def state(self, thread):
        number = int(thread["state"])
        return self.states.get(number, str(number))

    def label(self, thread):
        return f"{self.kernel.thread_name(thread)} ({int(thread['tid'])})"

    def class_name(self, lock_address):
        lock = self.kernel.at(lock_address, "struct spinlock")
        kind = int(lock["class"])
        return self.kernel.string(int(self.kernel.at(kind, "struct lock_class")["name"])) if kind else "?"

    def describe(self, address, thread):
        """What a thread waits for; empty if it does not wait."""
        lock = int(thread["wait_lock"])
        if not lock:
            return ""
        deadline = int(thread["wait_deadline"])
        own = [address + self.kernel.offset_in("struct thread", name) for name in ("lock", "reply_lock")]
        what = self._own_wait(address, thread) if lock in own else self._queued_wait(lock, thread)
        until = f" until {deadline / self.clock_hz:.6f}" if deadline != NEVER and self.clock_hz else ""
        return what + until

    def _own_wait(self, address, thread):
        """In no queue: one of the thread's own locks covers the wait."""
        state = self.state(thread)
        if state not in ("reply", "fault"):
            return ""
        server = self.servers.get((address, int(thread["call_id"])))
        who = f"reply of {server}" if server else "a reply that no server is working on"
        return who if state == "reply" else f"{who}, fault at {int(thread['fault_address']):#x}"

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

    # ---- endpoints -------------------------------------------------------------------------------------------------

    def endpoints(self):
        """{address: [names of processes that may receive there]}, from capabilities and from waiting threads."""
        found = {}
        for space in self.kernel.spaces().values():
            name = process_label(space)
            for kind, rights, target in self.kernel.capabilities(space):
                if kind == self.types["endpoint"]:
                    owners = found.setdefault(target, [])
                    if rights & RIGHT_RECEIVE and name not in owners:
                        owners.append(name)
        for thread in self.threads.values():
            lock = int(thread["wait_lock"])
            if lock and lock not in found and self.class_name(lock) == "endpoint":
                found[lock] = []
        return found

    def queue(self, endpoint, member):
        head = endpoint + self.kernel.offset_in("struct endpoint", member)
        return [self.label(self.kernel.at(at, "struct thread"))
                for at in self.kernel.objects(head, "struct thread", "link")]

    # ---- locks -----------------------------------------------------------------------------------------------------

    def lock_classes(self):
        """(address, name, contended acquisitions) of all classes."""
        kind = gdb.lookup_type("struct lock_class")
        first = self.kernel.address_of("lock_class_first")
        last = self.kernel.address_of("lock_class_last")
        for at in range(first, last, kind.sizeof):
            one = self.kernel.at(at, kind)
            yield at, self.kernel.string(int(one["name"])), int(one["contended"])

    def locks(self):
        """Addresses of the locks that can be enumerated: static ones, and those of CPUs, threads, spaces, capability
        tables, endpoints and futex buckets."""
        offset = self.kernel.offset_in
        for at, _ in self.kernel.cpus():
            for queue in "run_queue", "timer_queue":
                yield at + offset("struct cpu", queue) + offset(f"struct {queue}", "lock")
        for at, thread in self.threads.items():
            yield at + offset("struct thread", "lock")
            yield at + offset("struct thread", "reply_lock")
            if int(thread["wait_lock"]):
                yield int(thread["wait_lock"])
        for at in self.kernel.spaces():
            yield at + offset("struct space", "lock")
            yield at + offset("struct space", "caps") + offset("struct cap_table", "lock")
            yield from self._bucket_locks(at)
        for at in self.endpoints():
            yield at + offset("struct endpoint", "lock")
        yield from self._static_locks()

    def _bucket_locks(self, space):
        buckets = gdb.lookup_type("struct futex_table")["buckets"].type
        first = space + self.kernel.offset_in("struct space", "futexes")
        for i in range(buckets.range()[1] + 1):
            yield first + i * buckets.target().sizeof

    def _static_locks(self):
        listing = gdb.execute("info variables -q -t struct\\ spinlock", to_string=True)
        source = None
        for line in listing.splitlines():
            if line.startswith("File "):
                source = line[len("File "):].rstrip(":")
            elif line.rstrip().endswith(";") and source and "[" not in line:
                yield self.kernel.address_of(f"'{source}'::{line.split()[-1].rstrip(';')}")

    def held_locks(self):
        """(address of its class, address, CPU that holds it)"""
        owners = {at & 0xffffffff: number for number, (at, _) in enumerate(self.kernel.cpus())}  # spin_owner()
        for at in dict.fromkeys(self.locks()):
            lock = self.kernel.at(at, "struct spinlock")
            if int(lock["held"]) in owners:
                yield int(lock["class"]), at, owners[int(lock["held"])]
