# SPDX-License-Identifier: BSD-2-Clause
"""Reads memory and registers of a guest stopped by QEMU's gdb stub, or of a dump.

Both targets read physical memory. gdb's own view of memory is not usable: a dump made with paging=false has only
physical addresses, and in a stopped guest gdb sees only what the selected CPU has mapped. The targets have these
methods:

    read(physical, size)    bytes; raises TarnError where there is no memory
    registers(cpu)          {register: value} of a CPU, for the names in `port.registers`
    dump(directory)         path of a dump of all memory, which may be made in that directory
"""
import mmap
import os
import re
import struct

import gdb

from tarn_gdb import TarnError

PAGE = 4096


class Stub:
    """A guest behind QEMU's gdb stub. Memory packets use physical addresses while PhyMemMode is on."""

    def __init__(self, port):
        self.port = port
        self.connection = gdb.selected_inferior().connection
        self.pages = {}  # stays valid: a new Stub is made after the guest has run

    def _read(self, physical, size):
        self._ask("Qqemu.PhyMemMode:1")
        try:
            return bytes(gdb.selected_inferior().read_memory(physical, size))
        except gdb.MemoryError as error:
            raise TarnError(f"no memory at physical address {physical:#x}") from error
        finally:
            self._ask("Qqemu.PhyMemMode:0")

    def _ask(self, packet):
        if self.connection.send_packet(packet) != b"OK":
            raise TarnError("the stub does not read physical memory: use QEMU 4.1 or later")

    def read(self, physical, size):
        start, end = physical & -PAGE, (physical + size + PAGE - 1) & -PAGE
        if end - start > 2 * PAGE:
            return self._read(physical, size)
        for page in range(start, end, PAGE):
            if page not in self.pages:
                self.pages[page] = self._read(page, PAGE)
        data = b"".join(self.pages[page] for page in range(start, end, PAGE))
        return data[physical - start:physical - start + size]

    def registers(self, cpu):
        """The stub shows CPU n as thread n + 1."""
        selected = gdb.selected_thread()
        try:
            for thread in gdb.selected_inferior().threads():
                if thread.ptid[1] == cpu + 1:
                    thread.switch()
                    frame = gdb.newest_frame()
                    return {name: int(frame.read_register(name)) & (1 << 64) - 1 for name in self.port.registers}
        finally:
            if selected:
                selected.switch()
        raise TarnError(f"the stub shows no CPU {cpu}")

    def dump(self, directory):
        path = os.path.join(directory, "core")
        said = gdb.execute(f'monitor dump-guest-memory "{path}"', to_string=True).strip()
        if said or not os.path.exists(path):
            raise TarnError(f"QEMU wrote no dump of the guest's memory: {said}")
        return path


class Core:
    """An ELF file of QEMU's dump-guest-memory with paging=false. It is read here because gdb takes it for a program's core:
    gdb puts physical memory at program addresses, and all CPUs of powerpc64 into one thread."""

    LOAD, NOTE, PRSTATUS = 1, 4, 1
    REGISTERS_AT = 112  # in a PRSTATUS note of 64-bit machines

    def __init__(self, path, port):
        self.path = path
        self.port = port
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.order = port.order
        if self.data[:6] != b"\x7fELF\x02" + (b"\x01" if port.order == "<" else b"\x02"):
            raise TarnError(f"{path} is not a dump of this kernel's architecture")
        self.segments, self.processors = [], []
        table, = struct.unpack_from(self.order + "Q", self.data, 32)
        size, count = struct.unpack_from(self.order + "HH", self.data, 54)
        for i in range(count):
            self._add_segment(*struct.unpack_from(self.order + "IIQQQQ", self.data, table + i * size))

    def _add_segment(self, kind, _flags, offset, _virtual, physical, size):
        if kind == self.LOAD:
            self.segments.append((physical, offset, size))
        elif kind == self.NOTE:
            self._add_notes(offset, offset + size)

    def _add_notes(self, at, end):
        while at + 12 <= end:
            name, size, kind = struct.unpack_from(self.order + "III", self.data, at)
            body = at + 12 + (name + 3 & -4)
            if kind == self.PRSTATUS and self.data[at + 12:at + 16] == b"CORE":
                self.processors.append(body + self.REGISTERS_AT)
            at = body + (size + 3 & -4)

    def read(self, physical, size):
        for start, offset, length in self.segments:
            if start <= physical and physical + size <= start + length:
                return self.data[offset + physical - start:offset + physical - start + size]
        raise TarnError(f"no memory at physical address {physical:#x} in the dump")

    def registers(self, cpu):
        if cpu >= len(self.processors):
            raise TarnError(f"the dump has no registers of CPU {cpu}")
        at = self.processors[cpu]
        return {name: struct.unpack_from(self.order + "Q", self.data, at + 8 * index)[0]
                for name, index in self.port.registers.items()}

    def dump(self, _directory):
        return self.path


def find_target(port):
    """Returns gdb's current target."""
    connection = gdb.selected_inferior().connection
    if connection and connection.type in ("remote", "extended-remote"):
        return Stub(port)
    dump = re.search(r"core dump file:\s+[`']([^\n]+)', file type", gdb.execute("info files", to_string=True))
    if dump:
        return Core(dump[1], port)
    raise TarnError("no guest: `target remote` to QEMU's gdb stub, or `core-file` a dump of dump-guest-memory")
