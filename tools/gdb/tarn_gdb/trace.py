# SPDX-License-Identifier: BSD-2-Clause
"""Reads the last events from the rings in the guest's memory. trace/format/FORMAT.md describes the bytes; the rules for
valid ones are those of trace/ring/read.c. The store (trace/format/store.h) contains the addresses.
"""
import collections
import heapq
import struct

import gdb

from tarn_gdb import TarnError
from tarn_gdb.events import Table
from tarn_gdb.kernel import text

STORE_MAGIC, CTF_MAGIC = 0x5461726E53746F72, 0xC1FC1FC1
EXTENT_WINDOW, EXTENT_METADATA = 1, 2  # format/store.h: enum trace_extent_kind
BUFFERS_OFFSET, INDEX_CLOSED = 0x200000, 1 << 63  # format/layout.h
FILLER, CONTEXT, END = 1, 2, 7  # of class 0, format/format.h
CONTEXT_WORDS = 4
STEP_MAX = 1 << 31

Event = collections.namedtuple("Event", "time cpu id body")
Span = collections.namedtuple("Span", "position time")


def find_store(kernel, previous):
    """Address of the running system's store, or of the previous boot's store, which the running system keeps."""
    if previous:
        address = int(kernel.variable("'trace/control/previous.c'::previous")["store"])
        if not address:
            raise TarnError("there is no previous trace: there was no previous boot, or its trace was dropped")
    else:
        address = int(kernel.variable("'trace/control/store.c'::store"))
        if not address:
            raise TarnError("the guest has no store of its trace: it has not booted far enough, or had no memory for it")
    return address


class Store:
    def __init__(self, kernel, previous):
        self.kernel = kernel
        address = find_store(kernel, previous)
        self.header = kernel.at(address, "struct trace_store")
        if int(self.header["magic"]) != STORE_MAGIC:
            raise TarnError("the store of the trace is incomplete: the guest has not booted far enough")
        kind = gdb.lookup_type("struct trace_extent")
        first = address + self.header.type.sizeof
        self.extents = [kernel.at(first + i * kind.sizeof, kind) for i in range(int(self.header["extent_count"]))]

    def read(self, kind, number, offset, size):
        """Bytes of a ring, or of the metadata. They may be in several extents."""
        data = b""
        for extent in self.extents:
            start, length = int(extent["offset"]), int(extent["bytes"])
            at = offset + len(data) - start
            if int(extent["kind"]) == kind and int(extent["number"]) == number and 0 <= at < length:
                data += self.kernel.target.read(int(extent["physical"]) + at, min(size - len(data), length - at))
            if len(data) == size:
                return data
        raise TarnError(f"the store does not describe all of ring {number}")

    def metadata(self):
        size = int(self.header["metadata_bytes"])
        return self.read(EXTENT_METADATA, 0, 0, size).decode(errors="replace") if size else ""

    def uuid(self):
        field = self.header["uuid"]
        return bytes(int(field[i]) for i in range(16))


class Walk:
    """The events of a packet up to word `limit`, or to the first invalid one. end: no event is later."""

    def __init__(self, data, order, begin, limit, end=None):
        self.data, self.order, self.time, self.limit, self.end = data, order, begin, limit, end
        self.position, self.broken = 0, False

    def _header(self):
        word, time = struct.unpack_from(self.order + "II", self.data, self.position * 8)
        return (word & 0x3FFFFF, word >> 22, time) if self.order == "<" else (word >> 10, word & 0x3FF, time)

    def run(self, start):
        """(id, time, position, words) of each event."""
        self.position = start
        while self.position < self.limit:
            number, length, time = self._header()
            step = time - self.time & 0xFFFFFFFF
            late = step > STEP_MAX if self.end is None else step > self.end - self.time
            if not number or number == FILLER or not length or self.position + length > self.limit or late:
                self.broken = True
                return
            at = self.position
            self.position += length
            self.time += step
            yield number, self.time, at, length


class Ring:
    def __init__(self, kernel, store, cpu):
        self.kernel, self.store, self.cpu = kernel, store, cpu
        self.order = kernel.port.order
        self.words = int(store.header["buffer_bytes"]) // 8
        self.count = int(store.header["buffer_count"])
        kind = gdb.lookup_type("struct trace_control")
        control = gdb.Value(store.read(EXTENT_WINDOW, cpu, 0, kind.sizeof), kind)
        index, self.discarded = int(control["index"]), int(control["discarded"])
        self.index, closed = index & ~INDEX_CLOSED, index & INDEX_CLOSED
        self.newest = self.index // self.words
        self.open = -1 if closed else self.newest
        self.cut = 0  # incomplete packets
        header = gdb.lookup_type("struct trace_packet")
        self.header_type, self.header_words = header, header.sizeof // 8

    def newest_first(self):
        for number in range(self.newest, max(-1, self.newest - self.count), -1):
            yield from reversed(self._events(number))

    def _events(self, number):
        place = number % self.count * self.words * 8
        data = self.store.read(EXTENT_WINDOW, self.cpu, BUFFERS_OFFSET + place, self.words * 8)
        header = gdb.Value(data[:self.header_type.sizeof], self.header_type)
        if not self._is_sound(header, number):
            return []
        if int(header["committed"]) >> 32:  # a writer of an earlier lap may have overwritten it: layout.h, TRACE_DOUBT
            self.cut += 1
            return []
        begin, end = int(header["timestamp_begin"]), int(header["timestamp_end"])
        content = int(header["content_size"]) // 64
        closed = number != self.open and self.header_words < content <= self.words and begin <= end
        limit = self.index % self.words if number == self.open else self.words
        whole = closed and int(header["committed"]) == self.words
        walk = Walk(data, self.order, begin, content if whole else limit, end if closed else None)
        found = list(walk.run(self.header_words))
        if not whole:
            found = self._cut(found, walk, int(header["committed"]))
        return [Event(time, self.cpu, number, data[at * 8 + 8:(at + length) * 8])
                for number, time, at, length in found if number not in (CONTEXT, END)]

    def _is_sound(self, header, number):
        return (int(header["magic"]) == CTF_MAGIC and int(header["packet_seq_num"]) == number and
                int(header["cpu_id"]) == self.cpu and int(header["packet_size"]) == self.words * 64 and
                bytes(int(header["uuid"][i]) for i in range(16)) == self.store.uuid())

    def _cut(self, found, walk, committed):
        """The part of an open or interrupted packet that is certainly written (read.c: choose_cut)."""
        if not found or found[0][0] != CONTEXT or found[0][3] != CONTEXT_WORDS:
            self.cut += 1
            return []
        closed = found[-1][0] == END
        missing = (self.words if closed else walk.position) - committed
        if walk.broken and not closed:
            self.cut += 1
            return found
        if missing == 0:
            return found
        self.cut += 1
        return found[:-1] if not closed and found[-1][3] == missing else found[:1]


class Trace:
    def __init__(self, kernel, table_path, previous=False):
        self.kernel = kernel
        self.store = Store(kernel, previous)
        self.clock_hz = int(self.store.header["clock_hz"])
        self.table = Table(table_path, kernel.port.order)
        if self.table.uuid.replace("-", "") != self.store.uuid().hex():
            raise TarnError(f"{table_path} is from another build than the kernel that wrote the trace")
        self.table.add_applications(self.store.metadata())
        self.rings = [Ring(kernel, self.store, cpu) for cpu in range(int(self.store.header["cpu_count"]))]

    def last(self, count, cpu=None, class_name=None):
        """The last events, oldest first."""
        if class_name and class_name not in self.table.classes():
            raise TarnError(f"no class {class_name}; classes: {', '.join(self.table.classes())}")
        if cpu is not None and cpu >= len(self.rings):
            raise TarnError(f"no CPU {cpu}; there are {len(self.rings)} CPUs")
        rings = self.rings if cpu is None else [self.rings[cpu]]
        found = []
        for event in heapq.merge(*(ring.newest_first() for ring in rings), key=lambda event: -event.time):
            if len(found) == count:
                break
            if class_name is None or self.table.events.get(event.id, {}).get("class") == class_name:
                found.append(event)
        return found[::-1]

    def print(self, event):
        time = f"{event.time // self.clock_hz:6}.{event.time % self.clock_hz * 1000000 // self.clock_hz:06}" \
            if self.clock_hz else str(event.time)
        return f"{time} cpu {event.cpu} {self.table.print(event.id, event.body)}"

    def ending(self):
        """Says how the boot that wrote the trace ended, and which packets the next boot considers valid."""
        end, reason = int(self.store.header["end"]), text(self.store.header["reason"])
        kept = self.store.header["kept"]
        words = ["without a word: a reset, or worse", "by a panic", "in order"][end if end <= 2 else 0]
        return (f"the previous boot ended {words}{': ' if reason else ''}{reason}; {int(kept['packets'])} packets are "
                f"left, {int(kept['unsummed'])} of them without a checksum; {int(kept['damaged'])} have been damaged since")
