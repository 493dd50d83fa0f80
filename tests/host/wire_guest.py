"""A made-up guest at the other end of a link (trace/format/WIRE.md), and its tables of counters (trace/format/table.h)."""
import os
import re
import struct
import types

import sanitized
from sanitized import ORDERS, UUID

HELLO, METADATA, PACKET, STATUS, END, REPLY, REQUEST, PULL = 1, 2, 3, 4, 5, 6, 16, 17
FRAME_BYTES = 24
OPERATIONS = types.SimpleNamespace(PREVIOUS=3, LOCK_CLASSES=4, TABLES=6, METADATA=7, ROUTINES=6 | 1 << 8, ROUTINE_NAMES=6 | 2 << 8,
                                   PREVIOUS_TABLES=10, PREVIOUS_METADATA=11)
ROUTINES_HEAD, ROUTINES_ROW, ROUTINE = 80, 320, 128  # bytes of struct trace_routines, trace_routines_row, trace_routine
CPUS = 2


def frame(kind, sequence, payload):
    head = struct.pack(">IHHIII", 0x54617257, kind, 0, len(payload), sequence, sanitized.xxhash(payload))
    return head + struct.pack(">I", sanitized.crc(head)) + payload


def hello(order, cpus=CPUS, buffer=16384, machine=b"made", uuid=UUID, boot=42):
    return struct.pack(">4I6QII16s16s", 6, 1 if order == "le" else 2, cpus, 1, buffer, 16, 1000000000, 0, 2**64 - 1, boot, 0, 0, uuid, machine)


# ---- tables of counters

def read_declaration():
    """The tables of the schema by name, bytes in all, and the word that counts the moves that ended."""
    with open(os.path.join(sanitized.ROOT, "build/gen/trace/events.c"), encoding="utf-8") as file:
        text = file.read()
    tables, ended = {}, 0
    for name, offset, rows, words, end in re.findall(r'^    \{"(\w+)", ".*", \d+, (\d+), (\d+), (\d+), .*, columns_\w+, .*, (\d+)\},$', text, re.M):
        columns = re.search(rf" columns_{name}\[\] = \{{\n(.*?)\}};", text, re.S)[1]
        columns = {column: int(word) for column, word in re.findall(r'^    \{"(\w+)", .*, (\d+), \d+, \w+\},$', columns, re.M)}
        tables[name] = types.SimpleNamespace(name=name, offset=int(offset), rows=int(rows), words=int(words), columns=columns)
        ended = int(end)
    return tables, (ended // 4096 + 1) * 4096, ended // 8


TABLES, TABLE_BYTES, MOVES_ENDED = read_declaration()
LOCKS, CLASSES = TABLES["locks"], TABLES["lock_classes"]
HEAD_WORDS, MOVED, MOVES_BEGUN = 8, 2, 3
BEGUN, TAG, KEYS = range(3)  # words of a row


def tag_of(keys):
    factors = 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
    value = (len(keys) + sum(key * factor for key, factor in zip(keys, factors))) % 2**64
    value = (value ^ value >> 33) * factors[0] % 2**64
    return value ^ value >> 33 or 1


def row_of(keys, table=LOCKS):
    return tag_of(keys) % table.rows


class Counted:
    def __init__(self, order):
        self.order, self.areas = order, [bytearray(TABLE_BYTES) for _ in range(CPUS)]

    def copy(self):
        other = Counted(self.order)
        other.areas = [area[:] for area in self.areas]
        return other

    @staticmethod
    def word(table, row, column=0):
        """Which word of the area; column: a name, or a word of the row."""
        return table.offset // 8 + HEAD_WORDS + row * table.words + (table.columns[column] if isinstance(column, str) else column)

    def put(self, cpu, word, value):
        struct.pack_into(ORDERS[self.order] + "Q", self.areas[cpu], 8 * word, value)

    def get(self, cpu, word):
        return struct.unpack_from(ORDERS[self.order] + "Q", self.areas[cpu], 8 * word)[0]

    def add(self, cpu, word, value=1):
        self.put(cpu, word, self.get(cpu, word) + value)

    def wait(self, cpu, lock, pid, ticks):
        """As an update for a wait for a lock of class 3; its row."""
        keys = lock, 3, pid
        row = row_of(keys)
        self.add(cpu, self.word(LOCKS, row, BEGUN))
        for i, value in enumerate((tag_of(keys), *keys)):
            self.put(cpu, self.word(LOCKS, row, TAG + i), value)
        self.add(cpu, self.word(LOCKS, row, "contended"))
        self.add(cpu, self.word(LOCKS, row, "wait"), ticks)
        longest = self.word(LOCKS, row, "wait_longest")
        self.put(cpu, longest, max(self.get(cpu, longest), ticks))
        self.add(cpu, self.word(LOCKS, row, "wait_times") + max(ticks.bit_length() - 1, 0))
        self.add(cpu, self.word(LOCKS, row, LOCKS.words - 1))
        return row

    def set_moves(self, cpu, begun, ended):
        self.put(cpu, MOVES_BEGUN, begun)
        self.put(cpu, MOVES_ENDED, ended)

    def move(self, cpu, row):
        """Moves a row of `locks` to the row of its class, as the kernel does."""
        source, to = self.word(LOCKS, row), self.word(CLASSES, 3)
        self.put(cpu, to + TAG, 1)
        self.put(cpu, to + KEYS, 3)
        self.add(cpu, to, self.get(cpu, source))
        for i in range(KEYS + 1, CLASSES.words):  # of the largest, the moved one's
            before = 0 if i == CLASSES.columns["wait_longest"] else self.get(cpu, to + i)
            self.put(cpu, to + i, before + self.get(cpu, source + i + 2))
        for i in range(LOCKS.words):
            self.put(cpu, source + i, 0)
        self.add(cpu, LOCKS.offset // 8 + MOVED)
        self.set_moves(cpu, self.get(cpu, MOVES_BEGUN) + 1, self.get(cpu, MOVES_ENDED) + 1)


# ---- the guest

class Guest(sanitized.Peer):
    """Replies to requests; change(operation, data) may make another (status, data, tag) of a reply."""

    def __init__(self, order, *moments):
        """MOMENTS: its tables of counters at each reading; the last one stays."""
        self.order, self.moments, self.uuid = order, list(moments), UUID
        self.change = lambda operation, data: (0, data, 0)
        super().__init__(self.talk)

    def put(self, form, *values):
        return struct.pack(ORDERS[self.order] + form, *values)

    def tables(self, cpu):
        areas = self.moments[0].areas
        if cpu == CPUS - 1 and len(self.moments) > 1:
            self.moments.pop(0)
        return struct.pack(">Q", 12345) + areas[cpu] if cpu < CPUS else b""

    def routines(self, after):
        return b"" if after >= 2 else self.put("QQ4I16s2QIIQ", after + 1, 1, 0, 0, 0, 0, b"shell", 1000, 0, 1, ROUTINES_ROW, 0) + bytes(ROUTINES_ROW)

    def data(self, operation, a, b):
        op = OPERATIONS
        if operation == op.TABLES:
            return self.tables(a)
        if operation == op.PREVIOUS_TABLES:
            return self.tables(a)[:8 + b]
        if operation == op.PREVIOUS:
            return hello(self.order, uuid=self.uuid) + bytes(16 + 128)
        if operation == op.ROUTINES:
            return self.routines(a)
        if operation == op.ROUTINE_NAMES:
            return b"" if a > 1536 else self.put("I76x48s", a, b"draw")
        if operation == op.LOCK_CLASSES:
            return struct.pack(">IIIIQ32s", 1, 0, 0, 0, 0, b"user mutex")
        return b""

    def talk(self, connection):
        connection.sendall(frame(HELLO, 0, hello(self.order, uuid=self.uuid)))
        sequence = 1
        while True:
            head = sanitized.receive(connection, FRAME_BYTES)
            kind, length = struct.unpack_from(">4xHHI", head)[0::2]
            request = sanitized.receive(connection, length)
            if kind != REQUEST:
                continue
            operation, tag, a, b = struct.unpack_from(">IIQQ", request)
            if operation == OPERATIONS.TABLES:
                operation |= b << 8
            status, data, wrong = self.change(operation, self.data(operation, a, b))
            connection.sendall(frame(REPLY, sequence, struct.pack(">Ii", tag + wrong, status) + data))
            sequence += 1
