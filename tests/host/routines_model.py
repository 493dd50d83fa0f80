# SPDX-License-Identifier: BSD-2-Clause
"""Computes the routines of all threads from the events of a complete trace (trace/format/FORMAT.md, "Routines"), and reads those that
the guest's test/routines_work printed, so that they can be compared. Times are ticks.

A routine is (kind, argument), with the numbers of trace/format/routine.h. A thread is its tid; an idle one is "idle/CPU".
"""
import collections
import re

import end_to_end as e2e

SYSCALL, FAULT, EXCEPTION, INTERRUPT, IPI, TIMER, IDLE, CALL, OUT, SERVED, OTHERS, PROGRAM = range(12)
KINDS = "syscall fault exception interrupt ipi timer idle call out served others program".split()
THREAD, ENDED, CHILDREN, ORPHANS = range(4)
BUCKETS = 32
FROM_KERNEL = 4  # in fault_entry's access
RECEIVES = "ipc_receive", "ipc_reply_receive"
REPLIES = "ipc_reply", "ipc_reply_receive"
CALLS, HEAP, COMMON, REQUESTS, NAMED = 0x1, 0xe0, 0xf0, 0x100, 0x600  # contexts: where those of a kind begin
MALLOC, FREE, CALLOC, REALLOC, MEMALIGN = range(HEAP, HEAP + 5)
ENDS_SERVING = "ipc_receive", "ipc_reply", "ipc_reply_receive", "ipc_save_reply", "ipc_reply_to"


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def label_of(number):
    """As in a key: 48 bits, with their sign."""
    return signed(((number & (1 << 48) - 1) << 16 & (1 << 64) - 1)) >> 16


class Row:
    def __init__(self):
        self.ended = self.inclusive = self.exclusive = self.greatest = 0
        self.least = (1 << 64) - 1
        self.times = collections.Counter()

    def end(self, elapsed, own):
        self.ended += 1
        self.inclusive += elapsed
        self.exclusive += own
        self.least, self.greatest = min(self.least, elapsed), max(self.greatest, elapsed)
        self.times[min(max(elapsed.bit_length() - 1, 0), BUCKETS - 1)] += 1

    def add(self, other):
        self.ended += other.ended
        self.inclusive += other.inclusive
        self.exclusive += other.exclusive
        self.least, self.greatest = min(self.least, other.least), max(self.greatest, other.greatest)
        self.times.update(other.times)

    def is_empty(self):
        return not self.ended and not self.exclusive

    def columns(self):
        return (self.ended, self.inclusive, self.exclusive, self.least, self.greatest, sorted(self.times.items()))


def add_rows(to, rows):
    for routine, row in rows.items():
        to[routine].add(row)


def rows_by_routine():
    return collections.defaultdict(Row)


# ---- what the guest printed ----


class Profile:
    """One that was read. rows: contexts added up; in_context: by kind, argument and context."""

    def __init__(self, words):
        self.of, self.pid, self.tid, self.threads, self.life, self.until = map(int, words[:6])
        self.name, self.rows, self.in_context = words[6] if len(words) > 6 else "", rows_by_routine(), rows_by_routine()

    def thread(self):
        return self.tid or self.name

    def add_line(self, words):
        key, numbers = int(words[0], 16), list(map(int, words[1:6]))
        argument = label_of(key >> 32 << 16 | key & 0xffff)
        row = Row()
        row.ended, row.inclusive, row.exclusive, row.least, row.greatest = numbers
        row.times.update({int(bucket): int(times) for bucket, times in (word.split(":") for word in words[6:])})
        self.rows[key >> 16 & 15, argument].add(row)
        self.in_context[key >> 16 & 15, argument, key >> 20 & 0xfff].add(row)

    def of_program(self, context):
        return self.in_context.get((PROGRAM, 0, context), Row())

    def serves(self):
        """Contexts that are requests."""
        return {context for kind, _, context in self.in_context if kind == PROGRAM and COMMON <= context < NAMED}


class Printed:
    """routines; did: {routine: times} of the program's own process; pid, tid, cpu: of the thread that read the routines."""

    def __init__(self, lines):
        self.routines, self.did, self.is_whole = [], {}, False
        for line in lines:
            words = line.split()
            if line.startswith("did "):
                self.did[int(words[1]), int(words[2])] = int(words[3])
            elif line.startswith("self "):
                self.tid, self.cpu = int(words[1]), int(words[2])
            elif line.startswith("table "):
                self.routines.append(Profile(words[1:]))
            elif line.startswith("row "):
                self.routines[-1].add_line(words[1:])
            self.is_whole |= line.startswith("end of tables")
        self.pid = next((table.pid for table in self.routines if table.of == THREAD and table.tid == self.tid), None)

    def living(self):
        return {table.thread(): table for table in self.routines if table.of == THREAD}


# ---- what the events say ----


class Open:
    def __init__(self, since, kind, argument):
        self.since, self.kind, self.argument, self.nested = since, kind, argument, 0


class Thread:
    """born: when counting begins; None: not yet. until: what comes later does not count; None: everything counts."""

    def __init__(self, born, until):
        self.born, self.until, self.rows, self.open = born, until, rows_by_routine(), []
        self.received = None  # label of the call that it has received in its system call
        self.served = None    # (since, label)
        self.fault_kind = None
        self.calls, self.called = [], rows_by_routine()  # POSIX calls: (number, since) of those that are open; by number
        self.in_call = rows_by_routine()                 # rows of the kernel by kind, argument and POSIX call, 0 for none
        self.allocations, self.receipts = collections.Counter(), collections.Counter()

    def begin(self, time, kind, argument, nested=False):
        if not nested:
            self.open.clear()
        self.open.append(Open(time, kind, argument))

    def end(self, time, kind=None, argument=None):
        if not self.open:
            return
        done = self.open.pop()
        elapsed = time - done.since
        if self.open:
            self.open[-1].nested += elapsed
        if self.born is not None and done.since >= self.born:
            routine = (done.kind if kind is None else kind, done.argument if argument is None else argument)
            self.rows[routine].end(elapsed, elapsed - done.nested)
            self.in_call[routine + (self.calls[-1][0] if self.calls else 0,)].end(elapsed, elapsed - done.nested)

    def close(self, time):
        """What is open adds to exclusive times."""
        for one, inner in zip(self.open, [later.since for later in self.open[1:]] + [time]):
            if one.since >= self.born:
                self.rows[one.kind, one.argument].exclusive += inner - one.since - one.nested

    def innermost(self):
        return self.open[-1].kind if self.open else None


class Model:
    """living: the threads' routines at the moments when they were read, from which the births of idle threads are known."""

    def __init__(self, trace, living):
        self.living, self.threads, self.current = living, {}, {}
        self.numbers = enumerations(f"{trace}/metadata")
        self.comms = {}  # of threads that began in the trace
        self.calls = {}  # call_id: (label, server's tid)
        self.sent = {}   # CPU: server's tid of the send that was logged last
        self.seen = collections.Counter()
        for event in e2e.events(trace):
            self.take(event)
        for key, thread in self.threads.items():
            if thread.born is not None and key in living:
                thread.close(thread.until)
            elif thread.born is not None and thread.innermost() == OUT:
                thread.close(thread.open.pop().since)

    def thread(self, key):
        if key not in self.threads:
            table = self.living.get(key)
            is_idle = isinstance(key, str)
            self.threads[key] = Thread(table.until - table.life if is_idle and table else None, table and table.until)
        return self.threads[key]

    def number(self, event, field):
        value = event["fields"][field]
        return value if isinstance(value, int) else self.numbers[event["event"], field][value]

    def take(self, event):
        handle = getattr(self, "on_" + event["event"], None)
        if not handle:
            return
        self.seen[event["event"]] += 1
        cpu, time = event["cpu"], event["cycles"]
        handle(event, event["fields"], cpu, time)

    def running(self, cpu, time):
        """The thread that runs there; one that nobody sees if what happens now is too late to count."""
        return self.counted(self.current.get(cpu, f"idle/{cpu}"), time)

    def counted(self, key, time):
        thread = self.thread(key)
        return thread if thread.until is None or time <= thread.until else Thread(None, None)

    # Switches

    def on_sched_switch(self, event, fields, cpu, time):
        prev, following = (fields[part] or f"idle/{cpu}" for part in ("prev_tid", "next_tid"))
        self.current[cpu] = following
        self.counted(prev, time).begin(time, OUT, self.number(event, "prev_state") >> 11, nested=True)
        thread = self.counted(following, time)
        if thread.born is None:
            thread.born = time
            thread.open.clear()
        elif thread.innermost() == OUT:
            thread.end(time)

    def on_sched_process_fork(self, event, fields, cpu, time):
        self.comms[fields["child_tid"]] = fields["child_comm"]

    def on_power_cpu_idle(self, event, fields, cpu, time):
        thread = self.running(cpu, time)
        thread.begin(time, IDLE, 0) if self.number(event, "state") == 1 else thread.end(time)

    # System calls and messages

    def on_syscall_entry(self, event, fields, cpu, time):
        thread, number = self.counted(fields["tid"], time), fields["number"]
        thread.begin(time, SYSCALL, self.number(event, "number"))
        thread.received = None
        if number in ENDS_SERVING and thread.served:
            since, label = thread.served
            if number in REPLIES and since >= thread.born:
                thread.rows[SERVED, label].end(time - since, 0)
            thread.served = None

    def on_syscall_exit(self, event, fields, cpu, time):
        thread, number = self.counted(fields["tid"], time), fields["number"]
        thread.end(time)
        if number in RECEIVES and fields["ret"] == 0 and thread.received is not None and thread.born is not None:
            thread.served = time, thread.received

    def on_ipc_call(self, event, fields, cpu, time):
        label = label_of(self.number(event, "label"))
        self.calls[fields["call_id"]] = label, fields["server_tid"]
        thread = self.running(cpu, time)
        if thread.innermost() == SYSCALL and thread.open[-1].argument == self.numbers["syscall_entry", "number"]["ipc_call"]:
            thread.open[-1].kind, thread.open[-1].argument = CALL, label

    def on_ipc_receive(self, event, fields, cpu, time):
        call = self.calls.get(fields["call_id"])
        if call:
            thread = self.counted(call[1] or self.current.get(cpu), time)
            thread.received = call[0]
            thread.receipts[call[0]] += 1

    def on_ipc_return(self, event, fields, cpu, time):
        thread = self.running(cpu, time)
        if thread.innermost() == FAULT:
            thread.end(time, FAULT, thread.fault_kind)
        elif thread.innermost() == EXCEPTION:
            thread.end(time)

    # Faults. The end of one that another thread resolves is logged by that one, and counts when the thread runs again.

    def on_fault_entry(self, event, fields, cpu, time):
        thread = self.counted(fields["tid"], time)
        thread.begin(time, FAULT, 0, nested=self.number(event, "access") & FROM_KERNEL)
        thread.fault_kind = None

    def on_fault_exit(self, event, fields, cpu, time):
        thread, kind = self.counted(fields["tid"], time), self.number(event, "kind")
        if self.current.get(cpu) == fields["tid"] and thread.innermost() == FAULT:
            thread.end(time, FAULT, kind)
        thread.fault_kind = kind

    def on_exception_entry(self, event, fields, cpu, time):
        self.counted(fields["tid"], time).begin(time, EXCEPTION, self.number(event, "vector"))

    def on_exception_exit(self, event, fields, cpu, time):
        thread = self.running(cpu, time)
        if thread.innermost() == EXCEPTION:
            thread.end(time)

    # Routines of programs

    def on_libc_entry(self, event, fields, cpu, time):
        self.counted(fields["tid"], time).calls.append((self.number(event, "call"), time))

    def on_libc_exit(self, event, fields, cpu, time):
        thread, number = self.counted(fields["tid"], time), self.number(event, "call")
        if thread.calls and thread.calls[-1][0] == number:
            thread.called[number].end(time - thread.calls.pop()[1], 0)

    def on_libc_malloc(self, event, fields, cpu, time):
        self.running(cpu, time).allocations["malloc"] += 1

    def on_libc_free(self, event, fields, cpu, time):
        self.running(cpu, time).allocations["free"] += 1

    # Interrupts

    def on_irq_handler_entry(self, event, fields, cpu, time):
        self.running(cpu, time).begin(time, INTERRUPT, fields["irq"])

    def on_irq_ipi_entry(self, event, fields, cpu, time):
        self.running(cpu, time).begin(time, IPI, self.number(event, "kind"))

    def on_irq_timer_entry(self, event, fields, cpu, time):
        self.running(cpu, time).begin(time, TIMER, 0)

    def on_irq_handler_exit(self, event, fields, cpu, time):
        self.running(cpu, time).end(time)

    on_irq_ipi_exit = on_irq_timer_exit = on_irq_handler_exit


def enumerations(metadata):
    """{(event, field): {name: number}}"""
    with open(metadata, encoding="utf-8") as file:
        text = file.read()
    found = {}
    for block in re.split(r"^event \{", text, flags=re.M)[1:]:
        name = re.search(r"name = \"?([a-z_0-9]+)\"?;", block)[1]
        for values, field in re.findall(r"enum : \w+ \{ (.*?) \} (\w+);", block):
            found[name, field] = {word: int(number) for word, number in re.findall(r'"(\w+)" = (-?\d+)', values)}
    return found


def differences(expected, found):
    """Lines that say which rows differ, of which PROGRAM's has no events."""
    lines = []
    for routine in sorted(set(expected) | set(found)):
        one, other = expected.get(routine, Row()), found.get(routine, Row())
        if routine[0] == PROGRAM or (one.is_empty() and other.is_empty()):
            continue
        if one.columns() != other.columns():
            lines.append(f"{KINDS[routine[0]]} {routine[1]}: events {one.columns()}, table {other.columns()}")
    return lines
