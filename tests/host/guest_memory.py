"""Guest memory for tests (trace/format/store.h, layout.h), in either byte order, at addresses that only the store contains."""
import struct

import sanitized
from sanitized import ORDERS, UUID

BYTES = 2 << 20  # twice as many with tables
CPUS = 2
BUFFER, BUFFERS = 16 << 10, 4
RING = BUFFER * BUFFERS
WINDOW = 2 * RING  # capacity for one ring
FIRST = 3  # number of the oldest packet; the newest one, which is open, is 6
EVENTS = 100  # in each packet
INFO_AT, METADATA_AT, STORE_AT, RINGS_AT, TABLES_AT = 0x1000, 0x10000, 0x100000, 0x140000, 0x180000
TABLES_OFFSET, CONTROL_OFFSET, BUFFERS_OFFSET = 0x100000, 0x1ff000, 0x200000  # in a ring
HEAD_WORDS = 12 + 4  # of a packet: header and context event
CLOSED = 1 << 63
WHOLE, OPEN, TORN = range(3)
EXTENT_RING, EXTENT_METADATA = 1, 2
# Offsets in struct trace_store, trace_packet, trace_control and trace_info.
STORE_SELF, STORE_CHANGES, STORE_CHECKSUM, STORE_BYTES, STORE_GENERATION, STORE_UUID, STORE_AGE = 8, 16, 28, 32, 60, 104, 264
PACKET_BEGIN, PACKET_END, PACKET_CONTENT, PACKET_NUMBER, PACKET_COMMITTED = 24, 32, 40, 64, 72
CONTROL_DISCARDED, CONTROL_INDEX = 4064, 4088
INFO_ROUTINES = 2560
PACKET = "II16s8QII"


def event_id(cpu, number, event):
    return cpu << 32 | number << 16 | event


class Memory:
    """BASE, RING_BASE: physical addresses of the first byte, for the rings and for all else."""

    def __init__(self, order, base=0, ring_base=None, store_at=STORE_AT, table_bytes=0):
        self.order, self.base, self.store_at, self.table_bytes = order, base, base + store_at, table_bytes
        self.ring_base = base if ring_base is None else ring_base
        self.ram = bytearray(BYTES * (2 if table_bytes else 1))
        self.make_info()
        self.make_store()
        for cpu in range(CPUS):
            for number in range(FIRST + BUFFERS):
                self.make_packet(cpu, number, OPEN if number == FIRST + BUFFERS - 1 else WHOLE)

    def put(self, at, form, *values):
        struct.pack_into(ORDERS[self.order] + form, self.ram, at, *values)

    def get(self, at, form="Q"):
        return struct.unpack_from(ORDERS[self.order] + form, self.ram, at)[0]

    def store(self, field=0):
        """Where it lies in `ram`, like the following."""
        return self.store_at - self.base + field

    @staticmethod
    def packet(cpu, number):
        """The halves of a ring are swapped in memory."""
        return RINGS_AT + cpu * WINDOW + (number % BUFFERS ^ BUFFERS // 2) * BUFFER

    @staticmethod
    def control(cpu):
        return RINGS_AT + cpu * WINDOW + RING

    def set_index(self, cpu, words):
        self.put(self.control(cpu) + CONTROL_INDEX, "Q", (words & ~CLOSED) << 21 & CLOSED - 1 | words & CLOSED)

    def event(self, at, number, words, time):
        self.ram[at:at + 8] = sanitized.event_head(self.order, number, words, time)

    def make_packet(self, cpu, number, state):
        """Its events have event_id() and its complement. TORN: the event in the middle has older words. OPEN: the end is as it was."""
        at, time = self.packet(cpu, number), number << 20
        self.put(at, "II16sQ", 0xc1fc1fc1, 0, UUID, time)
        self.put(at + PACKET_CONTENT + 8, "3Q", BUFFER * 8, 0, number)
        self.put(at + PACKET_COMMITTED + 8, "QII", number * (1 + EVENTS), cpu, 0)
        self.event(at + 96, (0, 2), 4, time)
        self.put(at + 104, "II16s", 1, 2 + cpu, b"made for a test")
        words = HEAD_WORDS
        for i in range(EVENTS):
            if state != TORN or i != EVENTS // 2:
                time += 1
                self.event(at + words * 8, (17, 4), 3, time)
                self.put(at + words * 8 + 8, "QQ", event_id(cpu, number, i), ~event_id(cpu, number, i) % 2**64)
            words += 3
        if state == OPEN:
            self.put(at + PACKET_COMMITTED, "Q", words)
            self.set_index(cpu, number * BUFFER // 8 + words)
            return
        self.put(at + PACKET_COMMITTED, "Q", BUFFER // 8 - (3 if state == TORN else 0))
        self.event(at + words * 8, (0, 7), 1, time + 1)
        self.event(at + words * 8 + 8, (0, 1), 0, time + 1)
        self.put(at + PACKET_END, "QQ", time + 1, (words + 1) * 64)

    def make_info(self):
        self.put(INFO_AT, "QQIIQQQIIQ", 2**64 - 1, 0x5461726e54726163, 3, CPUS, BUFFER // 8 - 1, 0, BUFFERS, 0, 1, 0)
        self.ram[INFO_AT + 88:INFO_AT + 104] = UUID

    def make_store(self, age=0):
        text = sanitized.metadata(self.order, CPUS)
        self.ram[METADATA_AT:METADATA_AT + len(text)] = text
        extents = [(self.base + METADATA_AT, 0, len(text), EXTENT_METADATA, 0)]
        for cpu in range(CPUS):
            ring = self.ring_base + RINGS_AT + cpu * WINDOW
            extents += [(ring + RING, CONTROL_OFFSET, 4096, EXTENT_RING, cpu), (ring + RING // 2, BUFFERS_OFFSET, RING // 2, EXTENT_RING, cpu),
                        (ring, BUFFERS_OFFSET + RING // 2, RING // 2, EXTENT_RING, cpu)]
        half = self.table_bytes // 8192 * 4096
        rest = self.table_bytes - half
        for cpu in range(CPUS if self.table_bytes else 0):  # the second half lies in front of the first
            at = self.base + TABLES_AT + cpu * self.table_bytes
            extents += [(at, TABLES_OFFSET + half, rest, EXTENT_RING, cpu), (at + rest, TABLES_OFFSET, half, EXTENT_RING, cpu)]
        store = self.store()
        self.put(store, "QQQIIIIQQ4I4Q16s16s128sII", 0x5461726e53746f72, self.store_at, 8, 3, 0, 288 + 32 * len(extents), len(extents),
                 42, self.base + INFO_AT, CPUS, 1, 0, 0, BUFFER, BUFFERS, 1000000000, 0, UUID, b"test", b"", age, 0)
        for i, extent in enumerate(extents):
            self.put(store + 288 + 32 * i, "QQQII", *extent)
        self.seal()

    def seal(self):
        size = self.get(self.store(STORE_BYTES), "I")
        data = bytearray(self.ram[self.store():self.store() + (size if 288 <= size <= 64 << 10 else 288)])
        data[STORE_CHANGES:STORE_CHANGES + 8] = bytes(8)
        data[STORE_CHECKSUM:STORE_CHECKSUM + 4] = bytes(4)
        self.put(self.store(STORE_CHECKSUM), "I", sanitized.crc(data))

    def table_word(self, cpu, word):
        at, half = 8 * word, self.table_bytes // 8192 * 4096
        return TABLES_AT + cpu * self.table_bytes + (self.table_bytes - half + at if at < half else at - half)

    def write_core(self, path):
        """An ELF core with two segments; the second half comes first in the file."""
        form, half = ORDERS[self.order], len(self.ram) // 2
        ident = b"\x7fELF\x02" + (b"\x02" if self.order == "be" else b"\x01") + b"\x01"
        header = struct.pack(form + "16sHHIQQQIHHHHHH", ident, 4, 0, 0, 0, 64, 0, 0, 0, 56, 3, 0, 0, 0)
        header += struct.pack(form + "II6Q", 4, *[0] * 7)
        for i in range(2):
            header += struct.pack(form + "II6Q", 1, 0, 4096 + i * half, 0, self.base + (1 - i) * half, half, 0, 0)
        with memoryview(self.ram) as ram:
            return sanitized.write(path, header.ljust(4096, b"\0"), ram[half:], ram[:half])
