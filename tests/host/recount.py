# SPDX-License-Identifier: BSD-2-Clause
"""Computes results of tarn's analyses a second time, from the events alone, with the whole trace in memory and without
the host tool's model: in SQL (recount.sql), and here what SQL says badly. Times are ticks of the trace's clock.

Only for traces without losses. As in the analyses, what has no begin or no end in the trace has no duration.
"""

import collections
import json
import math
import re
import sqlite3
import subprocess


class Trace:
    def __init__(self, tarn, path):
        run = subprocess.run([tarn, "list", "--json", path], capture_output=True, text=True, check=True)
        self.path = path
        self.events = [Event(json.loads(line)) for line in run.stdout.splitlines()]
        with open(f"{path}/metadata", encoding="utf-8") as metadata:
            self.hz = int(re.search(r"freq = (\d+)", metadata.read())[1])
        self.cpus = {event.cpu for event in self.events}
        self.mark_running()

    def mark_running(self):
        """Sets the thread that ran when each event was logged, from context events and switches."""
        now = {}
        for event in self.events:
            fields = event.fields
            if event.name == "trace_context":
                now[event.cpu] = (fields["tid"], fields["pid"])
            event.tid, event.pid = now[event.cpu]
            if event.name == "sched_switch":
                now[event.cpu] = (fields["next_tid"], fields["next_pid"])

    def running_at_end(self):
        """Threads that still ran when the trace ended, and idle threads: no event says when their last packets were closed."""
        return {0, *{event.cpu: event.fields["next_tid"] for event in self.of("sched_switch")}.values()}

    def ns(self, ticks):
        return ticks * 1000000000 // self.hz

    def of(self, *names):
        return (event for event in self.events if event.name in names)

    def database(self):
        """The events as tests/host/recount.sql has them, and of processors what babeltrace2 says."""
        database, rows = sqlite3.connect(":memory:"), grouped((event.name, (i, event)) for i, event in enumerate(self.events))
        with open(f"{self.path}/metadata", encoding="utf-8") as metadata:
            declared = re.findall(r'^event \{\s*name = "(\w+)";.*?(?:struct \{(.*?)\n    \}.*?)?^\};', metadata.read(), re.M | re.S)
        for name, fields in declared:
            columns = ["i", "at", "on_cpu", "by_tid", "by_pid", *(f'"{field}"' for field in re.findall(r"\b_?(\w+)(?:\[\w+\])?;$", fields, re.M))]
            database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",
                                 ((i, event.ticks, event.cpu, event.tid, event.pid, *map(column_of, event.fields.values()))
                                  for i, event in rows.get(name, ())))
        database.execute("CREATE TABLE event (name)")
        database.executemany("INSERT INTO event VALUES (?)", ((event.name,) for event in self.events))
        database.execute("CREATE TABLE processor (cpu, there, asleep, boot)")
        database.executemany("INSERT INTO processor VALUES (?, ?, ?, ?)", ((cpu, *times) for cpu, times in processors(self.path).items()))
        database.create_function("ns", 1, lambda ticks: ticks and self.ns(ticks))
        database.create_function("function_of", 2, function_of)
        database.row_factory = sqlite3.Row
        return database


class Event:
    __slots__ = ("ticks", "cpu", "name", "fields", "tid", "pid")

    def __init__(self, told):
        self.ticks, self.cpu, self.name, self.fields = told["cycles"], told["cpu"], told["event"], told["fields"]


def costs(path):
    """{event: (ticks, their median)} in thousandths, from the metadata."""
    with open(f"{path}/metadata", encoding="utf-8") as metadata:
        block = metadata.read().rpartition("/* costs of logging,")[2].partition("*/")[0]
    found = re.findall(r"^ \* (\w+) (\d+) (\d+) ", block, re.M)
    return {name: (int(least), int(median)) for name, least, median in found}


def stopwatches(trace):
    """[(begin, end)] of those of one thread."""
    found, running = [], {}
    for event in trace.of("user_stopwatch_start", "user_stopwatch_stop"):
        key = event.tid, event.fields["id"]
        if event.name == "user_stopwatch_start":
            running[key] = event
        elif key in running:
            found.append((running.pop(key), event))
    return found


class Serving:
    """Which server works on which call: from when it receives the call until it replies or receives another."""

    def __init__(self):
        self.clients, self.servers, self.serving = {}, {}, {}
        self.early = set()  # servers that a client found waiting, and that may not have been switched away from yet

    def follow(self, event):
        fields, call = event.fields, event.fields.get("call_id")
        if event.name == "ipc_call":
            self.clients[call], self.servers[call] = event.tid, fields["server_tid"]
        elif event.name == "ipc_receive":
            # A client that found the server waiting logs it, too.
            by_client = event.tid == fields["client_tid"]
            server = self.servers.get(call, 0) if by_client else event.tid
            self.serving[server] = call
            if by_client:
                self.early.add(server)
        elif event.name == "ipc_reply" and self.serving.get(event.tid) == call:
            del self.serving[event.tid]
        elif event.name == "ipc_return":
            self.clients.pop(call, None)
        elif event.name == "sched_switch":
            waits = fields["prev_state"] == "blocked_ipc_receive" and fields["prev_tid"] not in self.early
            if waits or fields["prev_state"] == "dead":
                self.serving.pop(fields["prev_tid"], None)
            self.early.discard(fields["next_tid"])
        elif event.name == "syscall_entry" and fields["number"] == "ipc_receive":
            self.serving.pop(fields["tid"], None)

    def client_of(self, tid):
        return self.clients.get(self.serving.get(tid))


def delayed_by(trace):
    """[(event, threads)]: those that logging the event delays, which are the one that runs after it, and the clients whose calls
    that works on."""
    serving, found = Serving(), []
    for event in trace.events:
        serving.follow(event)
        tid = event.fields["next_tid"] if event.name == "sched_switch" else event.tid
        tids = set()
        while tid is not None and tid not in tids:
            tids.add(tid)
            tid = serving.client_of(tid)
        found.append((event, tids))
    return found


class Drain:
    """What the drain of the trace caused (`tarn --without-drain`). A thread drains from its first mark to its last, a server
    while it works on a call of a draining thread. Interrupts belong to nobody; the time of a timer's is its thread's all the same.

    events: all of it; ran, pieces: {tid: ticks, number of pieces} that draining threads ran; served: a server did. unclear: ticks
    that a server was still on its way to sleep after a client had given it a call."""

    def __init__(self, trace):
        self.events, self.ran, self.pieces, self.served = set(), collections.Counter(), collections.Counter(), False
        self.drains, self.calls, self.serving = set(), set(), Serving()
        self.unclear, given = collections.Counter(), {}
        inside, timers, last = collections.Counter(), set(), {}
        for event in trace.events:
            if event.name == "ipc_receive" and event.tid == event.fields["client_tid"]:
                given[self.serving.servers.get(event.fields["call_id"], 0)] = event.ticks
            elif event.name == "sched_switch":
                since = given.pop(event.fields["prev_tid"], None)
                self.unclear[event.fields["prev_tid"]] += event.ticks - since if since is not None else 0
                given.pop(event.fields["next_tid"], None)
            if event.cpu in last:
                before, tid, counts = last[event.cpu]
                self.ran[tid] += event.ticks - before if counts else 0
                self.pieces[tid] += counts
            interrupts = event.name in ("irq_handler_entry", "irq_ipi_entry")
            if event.name == "irq_timer_entry":
                timers.add(event.cpu)
            if self.takes(event, inside[event.cpu] > 0 or interrupts or event.cpu in timers):
                self.events.add(event)
            if event.name in ("irq_timer_exit", "sched_switch"):
                timers.discard(event.cpu)
            if interrupts:
                inside[event.cpu] += 1
            elif event.name in ("irq_handler_exit", "irq_ipi_exit"):
                inside[event.cpu] = max(0, inside[event.cpu] - 1)
            elif event.name == "sched_switch":
                inside[event.cpu] = 0
            tid = event.fields["next_tid"] if event.name == "sched_switch" else event.tid
            last[event.cpu] = (event.ticks, tid, self.is_draining(tid) and not inside[event.cpu])

    def is_draining(self, tid):
        return tid in self.drains or self.serving.serving.get(tid) in self.calls

    def takes(self, event, is_interrupt):
        """Whether the event is the drain's."""
        fields, was = event.fields, self.is_draining(event.tid) and not is_interrupt
        if event.name.startswith(("sched_", "timer_")):  # about one thread, which need not be the one that runs
            was |= self.is_draining(fields.get("tid", fields.get("next_tid")))
        if event.name in ("trace_drain_begin", "trace_drain_end"):
            (self.drains.discard if fields.get("is_last") else self.drains.add)(fields["tid"])
            return True
        if event.name == "ipc_call" and self.is_draining(event.tid):
            self.calls.add(fields["call_id"])
        elif event.name == "ipc_receive":
            was |= fields["call_id"] in self.calls
            self.served |= fields["call_id"] in self.calls
        elif event.name == "ipc_return":
            self.calls.discard(fields["call_id"])
        self.serving.follow(event)
        return was


def grouped(values):
    """{key: [value, ...]} of (key, value)."""
    groups = collections.defaultdict(list)
    for key, value in values:
        groups[key].append(value)
    return groups


def sums(values):
    """{key: sum} of (key, value)."""
    found = collections.Counter()
    for key, value in values:
        found[key] += value
    return found


def column_of(value):
    """SQLite's integers are signed."""
    return json.dumps(value) if isinstance(value, list) else value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def function_of(server, label):
    """fs_read is what fs reads; what all servers understand is called server_ping, and a program's own have numbers."""
    return f"{server} {re.sub(f'^({server}|server)_', '', str(label))}"


def queries(path):
    """Statements that come first, and [(question, table, columns that tell its rows apart, what rows it does not have, query)]: of
    docs/export.sql and recount.sql."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    query = re.compile(r"^-- tarn (\w[^:\n]*): (\S+), by ([\w, ]+)(; .*)?\n([^;]*;)", re.M)
    return query.sub("", text), [(question, table, keys.split(", "), *rest) for question, table, keys, *rest in query.findall(text)]


def durations(rows, keys, ns):
    """Rows of figures from rows of one duration each."""
    column = (rows[0].keys() - set(keys)).pop() if rows else ""
    for place, values in grouped((tuple(row[key] for key in keys), row[column]) for row in rows).items():
        known = sorted(value for value in values if value is not None)
        figures = {column.removesuffix("_ticks"): len(values)}
        if known:
            figures |= {"mean_ns": ns(sum(known)) // len(known), "max_ns": ns(known[-1])}
            figures |= {f"p{part}_ns": ns(known[math.ceil(part / 100 * len(known)) - 1]) for part in (50, 90, 99)}
        yield dict(zip(keys, place)) | figures


def differs(value, other, slack):
    """None: there is no such figure."""
    return value != "unknown" and (value is not other if None in (value, other) else abs(other - value) > slack)


def slack_of(column, value, items):
    """Times are rounded; percentiles are right to a 64th (tarn-analyses(1))."""
    return 0 if not column.endswith("_ns") else 2 + 2 * items + (value / 64 if re.match(r"p\d\d", column) else 0)


def one_row(rows):
    """Rows of the same thing as one."""
    row = dict(rows[0])
    for other in rows[1:]:
        row |= {column: max(row[column] or 0, value) if "max" in column else (row[column] or 0) + value
                for column, value in other.items() if isinstance(value, int)}
    return row


def disagreements(found, rows, keys, some):
    """[(keys, column, its value in FOUND, in the analysis's ROWS)]. SOME: only these may have rows that FOUND has not, and that are
    not empty."""
    def place_of(row):
        return tuple(row[key] for key in keys)
    expected = {place: one_row(same) for place, same in grouped((place_of(row), row) for row in rows).items()}
    wrong, figures = [], set().union(*found) - {*keys, "items"}
    for row in found:
        other = expected.pop(place_of(row), {})
        wrong += [(place_of(row), column, row[column], other.get(column)) for column in figures & row.keys()
                  if differs(row[column], other.get(column), slack_of(column, row[column], row.get("items", 0)))]
    return wrong + [(place, row) for place, row in expected.items() if not some and any(row.get(column) for column in figures)]


LINE = re.compile(r"\[(\d+)\] \(\S+\) (?:\S+ )?(\w+): \{[^}]*\bcpu_id = (\d+)[^}]*\}, \{(.*)\}$")


def processors(path):
    """{cpu: (ticks there, asleep, in boot)}, from what babeltrace2 prints alone. A processor sleeps from one power_cpu_idle
    to the next, and boots until it first sleeps or runs a thread."""
    text = subprocess.run(["babeltrace2", "--clock-cycles", path], capture_output=True, text=True, check=True).stdout
    begin, last, asleep, booted, since = {}, {}, collections.Counter(), {}, {}
    for ticks, name, cpu, fields in (found.groups() for found in map(LINE.match, text.splitlines()) if found):
        cpu, ticks = int(cpu), int(ticks)
        begin.setdefault(cpu, ticks)
        last[cpu] = ticks
        if name == "power_cpu_idle" and re.search(r"\bstate = 1\b", fields):
            since[cpu] = ticks
        elif name == "power_cpu_idle" and cpu in since:
            asleep[cpu] += ticks - since.pop(cpu)
        if name == "power_cpu_idle" or (name == "sched_switch" and not re.search(r"\bnext_tid = 0\b", fields)):
            booted.setdefault(cpu, ticks)
    for cpu, ticks in since.items():
        asleep[cpu] += last[cpu] - ticks
    return {cpu: (last[cpu] - begin[cpu], asleep[cpu], booted.get(cpu, last[cpu]) - begin[cpu]) for cpu in begin}


ENTRIES = {"libc_entry": "posix", "syscall_entry": "syscalls", "fault_entry": "faults", "exception_entry": "faults",
           "irq_handler_entry": "interrupts", "irq_ipi_entry": "interrupts"}
EXITS = {name.replace("_entry", "_exit"): what for name, what in ENTRIES.items()}


def time_on_processors(trace):
    """{tid: {what: ticks}}: the time between any two events of a processor, by what its thread was in the middle of."""
    stacks, taken = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    last = {}
    for event in trace.events:
        stack = stacks[event.tid] if event.tid else []
        if event.cpu in last:
            taken[event.tid][stack[-1] if stack else "user"] += event.ticks - last[event.cpu]
        last[event.cpu] = event.ticks
        if not event.tid:
            continue
        whose = stacks[event.fields.get("tid", event.tid)] if event.name in ("fault_exit",) else stack
        if event.name in ENTRIES:
            whose.append(ENTRIES[event.name])
        elif event.name in EXITS and EXITS[event.name] in whose:
            while whose.pop() != EXITS[event.name]:
                pass
    return taken
