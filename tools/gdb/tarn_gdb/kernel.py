"""Reads the kernel's structures by the debug information of its executable.

Memory is read at physical addresses, because in a stopped guest gdb reads only what the selected CPU may. Bytes are passed to
gdb with their type, so a field is `value["name"]` in either byte order.
Lists may be inconsistent: the guest may have been stopped during a change, or be damaged.
"""
import struct

import gdb

from tarn_gdb import TarnError
from tarn_gdb.port import find_port

PAGE = 4096
LIST_MAX = 100000  # a longer list is a cycle without its head


def text(value):
    """Converts a NUL-padded character array."""
    low, high = value.type.range()
    data = bytes(int(value[i]) & 255 for i in range(low, high + 1))
    return data.split(b"\0")[0].decode(errors="replace")


class Kernel:
    def __init__(self):
        self.path = gdb.current_progspace().filename
        if not self.path:
            raise TarnError("no symbols: start gdb with build/ARCH/kernel/tarn.elf, or load it with `file`")
        self.port = find_port(self.path)
        self.connection = gdb.selected_inferior().connection
        if not self.connection or self.connection.type not in ("remote", "extended-remote"):
            raise TarnError("no guest: `target remote` to QEMU's gdb stub")
        self.pages = {}
        self._root = None
        self._check_build()

    def _check_build(self):
        note = self.read(self.address_of("build_id_note"), 36)[16:]
        if note.hex() != gdb.lookup_objfile(self.path).build_id:
            raise TarnError(f"the guest runs another kernel than {self.path}, or has not loaded it yet")

    def _ask(self, packet):
        if self.connection.send_packet(packet) != b"OK":
            raise TarnError("the stub does not read physical memory: use QEMU 4.1 or later")

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

    # ---- memory ----------------------------------------------------------------------------------------------------

    def read_page(self, page):
        self._ask("Qqemu.PhyMemMode:1")
        try:
            return bytes(gdb.selected_inferior().read_memory(page, PAGE))
        except gdb.MemoryError as error:
            raise TarnError(f"no memory at physical address {page:#x}") from error
        finally:
            self._ask("Qqemu.PhyMemMode:0")

    def read_physical(self, at, size):
        data = b""
        while len(data) < size:
            place = at + len(data)
            page = place & -PAGE
            if page not in self.pages:
                self.pages[page] = self.read_page(page)
            data += self.pages[page][place - page:][:size - len(data)]
        return data

    def translate(self, root, address):
        """Translates through page tables. Returns the physical address, or None."""
        table = root
        for level in 4, 3, 2, 1:
            at = table + 8 * self.port.index(address, level)
            entry, = struct.unpack(self.port.order + "Q", self.read_physical(at, 8))
            valid, leaf, table = self.port.next_table(entry)
            if not valid:
                return None
            if leaf or level == 1:
                inside = (1 << 12 + 9 * (level - 1)) - 1
                return (table & ~inside) + (address & inside)
        return None

    def read(self, address, size):
        """Reads kernel addresses."""
        physical = self.port.offset(address)
        if physical is not None:
            return self.read_physical(physical, size)
        if self._root is None:
            self._root = self.port.kernel_root(self)
        return self.read_through(self._root, address, size)

    def read_through(self, root, address, size):
        data = b""
        while len(data) < size:
            at = address + len(data)
            physical = self.translate(root, at)
            if physical is None:
                raise TarnError(f"nothing is mapped at {at:#x}")
            data += self.read_physical(physical, min(size - len(data), 4096 - at % 4096))
        return data

    def load(self, address, root=None):
        """Returns a word, or None if it cannot be read."""
        try:
            data = self.read(address, 8) if root is None else self.read_through(root, address, 8)
            return struct.unpack(self.port.order + "Q", data)[0]
        except TarnError:
            return None

    # ---- structures ------------------------------------------------------------------------------------------------

    @staticmethod
    def address_of(name):
        """name: as in C; for a static variable \"'kernel/sched/thread.c'::thread_list\"."""
        return int(gdb.parse_and_eval(f"(unsigned long)&{name}"))

    def at(self, address, kind):
        if isinstance(kind, str):
            kind = gdb.lookup_type(kind)
        return gdb.Value(self.read(int(address), kind.sizeof), kind)

    def variable(self, name):
        return self.at(self.address_of(name), gdb.parse_and_eval(f"&{name}").type.target())

    @staticmethod
    def offset_in(kind, field):
        return next(f.bitpos // 8 for f in gdb.lookup_type(kind).fields() if f.name == field)

    def objects(self, head, kind, link):
        """Addresses of the elements of the list (kernel/lib/list.h) at `head`, as far as it can be followed."""
        inside = self.offset_in(kind, link)
        at = self.load(head)
        for _ in range(LIST_MAX):
            if at == head:
                return
            if not at:
                break
            yield at - inside
            at = self.load(at)
        gdb.write(f"warning: the list at {head:#x} is damaged; elements may be missing\n", gdb.STDERR)

    # ---- objects ---------------------------------------------------------------------------------------------

    def threads(self):
        """{address: struct thread}, including idle threads, oldest first."""
        head = self.address_of("'kernel/sched/thread.c'::thread_list")
        return {at: self.at(at, "struct thread") for at in self.objects(head, "struct thread", "all")}

    def cpus(self):
        """[(address, struct cpu)], by number."""
        kind = gdb.lookup_type("struct cpu")
        first = self.address_of("cpus")
        return [(first + i * kind.sizeof, self.at(first + i * kind.sizeof, kind))
                for i in range(int(self.variable("cpu_count")))]

    def thread_name(self, thread):
        block = int(thread["block"])
        return text(self.at(block, "struct thread_block")["name"]) if block else "?"
