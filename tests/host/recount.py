"""Computes results of tarn's analyses a second time, from the events alone, in SQL (recount.sql); for traces without losses. Times are ticks.
As in the analyses, what has no begin or no end in the trace has no duration.
"""

import collections
import json
import math
import re
import sqlite3

import end_to_end as e2e


class Trace:
    def __init__(self, path):
        self.path, self.events = path, list(map(Event, e2e.events(path)))
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

    def ns(self, ticks):
        return ticks * 1000000000 // self.hz

    def of(self, *names):
        return (event for event in self.events if event.name in names)

    def database(self):
        database, rows = sqlite3.connect(":memory:"), grouped((event.name, (i, event)) for i, event in enumerate(self.events))
        with open(f"{self.path}/metadata", encoding="utf-8") as metadata:
            declared = re.findall(r'^event \{\s*name = "(\w+)";.*?(?:struct \{(.*?)\n    \}.*?)?^\};', metadata.read(), re.M | re.S)
        for name, fields in declared:
            columns = ["i", "at", "on_cpu", "by_tid", "by_pid", *(f'"{field}"' for field in re.findall(r"\b_?(\w+)(?:\[\w+\])?;$", fields, re.M))]
            database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})",
                                 ((i, event.ticks, event.cpu, event.tid, event.pid, *map(column_of, event.fields.values()))
                                  for i, event in rows.get(name, ())))
        database.execute("CREATE TABLE event (name, at, on_cpu)")
        database.executemany("INSERT INTO event VALUES (?, ?, ?)", ((event.name, event.ticks, event.cpu) for event in self.events))
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


def grouped(values):
    groups = collections.defaultdict(list)
    for key, value in values:
        groups[key].append(value)
    return groups


def sums(values):
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
    """Statements that come first, and [(question, table, columns that tell rows apart, what rows it does not have, query)]."""
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
    return value != "unknown" and (value is not other if None in (value, other) else abs(other - value) > slack)


def slack_of(column, value, items):
    """Times are rounded; percentiles are right to a 64th (tarn-analyses(1))."""
    return 0 if not column.endswith("_ns") else 2 + 2 * items + (value / 64 if re.match(r"p\d\d", column) else 0)


def one_row(rows):
    row = dict(rows[0])
    for other in rows[1:]:
        row |= {column: max(row[column] or 0, value) if "max" in column else (row[column] or 0) + value
                for column, value in other.items() if isinstance(value, int)}
    return row


def disagreements(found, rows, keys, some):
    """[(keys, column, its value in FOUND, in the analysis's ROWS)]. SOME: only these may have rows that FOUND has not."""
    def place_of(row):
        return tuple(row[key] for key in keys)
    expected = {place: one_row(same) for place, same in grouped((place_of(row), row) for row in rows).items()}
    wrong, figures = [], set().union(*found) - {*keys, "items"}
    for row in found:
        other = expected.pop(place_of(row), {})
        wrong += [(place_of(row), column, row[column], other.get(column)) for column in figures & row.keys()
                  if differs(row[column], other.get(column), slack_of(column, row[column], row.get("items", 0)))]
    return wrong + [(place, row) for place, row in expected.items() if not some and any(row.get(column) for column in figures)]
