"""A stopped guest: reads the kernel's structures by the debug information of its executable.

Memory is read at physical addresses, because in a stopped guest gdb reads only what the selected CPU may. Bytes are passed to
gdb with their type, so a field is `value["name"]` in either byte order.
Lists may be inconsistent: the guest may have been stopped during a change, or be damaged.
"""
import struct

import gdb

PAGE = 4096
LIST_MAX = 100000  # a longer list is a cycle without its head
CHAIN_MAX = 64


class TarnError(Exception):
    """Information is not available; the text says why and what to do."""


class X86_64:
    """Differences between the architectures, from arch/ARCH/include/port/*.h and arch/ARCH/backtrace.c."""
    name, machine, order = "x86_64", 62, "<"
    registers = {"rip": ["rip"], "rbp": ["rbp"]}  # names in gdb: the way to it in struct arch_frame
    program_counter = "rip"
    mapped = (0xFFFFFFFF80000000, 1 << 64), (0xFFFF800000000000, 0xFFFFC00000000000)  # by the kernel, from physical address 0 on
    VALID, LEAF, ADDRESS = 1, 1 << 7, 0x000FFFFFFFFFF000  # of an entry of a page table
    root_entries = 512
    return_address = 8  # its place in a stack frame

    def kernel_root(self, kernel):
        """Physical address of the root table of the kernel's addresses."""
        return int(kernel.at(int(kernel.variable("arch_kernel_space")), "struct arch_space")["root"])

    def first_frame(self, registers, load):
        """Its address, and a return address that may be in no frame."""
        return registers["rbp"], None


class Ppc64:
    name, machine, order = "ppc64", 21, ">"
    registers = {"pc": ["nip"], "lr": ["lr"], "r1": ["gpr", 1]}
    program_counter = "pc"
    mapped = (0xC000000000000000, 0xC008000000000000),
    VALID, LEAF, ADDRESS = 1 << 63, 1 << 62, 0x01FFFFFFFFFFF000
    root_entries = 8192
    return_address = 16

    def kernel_root(self, kernel):
        return int(kernel.variable("kernel_root"))

    def first_frame(self, registers, load):
        """The innermost function's return address may still be in LR; LR may also be unrelated."""
        return load(registers["r1"]), registers["lr"]


def find_port(path):
    """The port of the kernel's executable."""
    with open(path, "rb") as file:
        header = file.read(20)
    for port in X86_64, Ppc64:
        if header[:4] == b"\x7fELF" and struct.unpack_from(port.order + "H", header, 18)[0] == port.machine:
            return port()
    raise TarnError(f"{path} is not a Tarn kernel: start gdb with build/ARCH/kernel/tarn.elf")


def text(value):
    """Converts a NUL-padded character array."""
    low, high = value.type.range()
    return bytes(int(value[i]) & 255 for i in range(low, high + 1)).split(b"\0")[0].decode(errors="replace")


def at_path(value, path):
    for step in path:
        value = value[step]
    return int(value)


class Kernel:
    def __init__(self):
        self.path = gdb.current_progspace().filename
        if not self.path:
            raise TarnError("no symbols: start gdb with build/ARCH/kernel/tarn.elf, or load it with `file`")
        self.port = find_port(self.path)
        self.connection = gdb.selected_inferior().connection
        if not self.connection or self.connection.type not in ("remote", "extended-remote"):
            raise TarnError("no guest: `target remote` to QEMU's gdb stub")
        self.pages, self._root = {}, None
        note = self.read(self.address_of("build_id_note"), 36)[16:]
        if note.hex() != gdb.lookup_objfile(self.path).build_id:
            raise TarnError(f"the guest runs another kernel than {self.path}, or has not loaded it yet")

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

    def _ask(self, packet):
        if self.connection.send_packet(packet) != b"OK":
            raise TarnError("the stub does not read physical memory: use QEMU 4.1 or later")

    def _page(self, page):
        if page not in self.pages:
            self._ask("Qqemu.PhyMemMode:1")
            try:
                self.pages[page] = bytes(gdb.selected_inferior().read_memory(page, PAGE))
            except gdb.MemoryError as error:
                raise TarnError(f"no memory at physical address {page:#x}") from error
            finally:
                self._ask("Qqemu.PhyMemMode:0")
        return self.pages[page]

    def translate(self, address, root=None):
        """Returns the physical address of a kernel's address, or of one in the page tables at `root`; or None."""
        if root is None:
            for begin, end in self.port.mapped:
                if begin <= address < end:
                    return address - begin
            table = self._root = self._root or self.port.kernel_root(self)
        else:
            table = root
        for level in 4, 3, 2, 1:
            shift = 12 + 9 * (level - 1)
            at = table + 8 * (address >> shift & (self.port.root_entries if level == 4 else 512) - 1)
            entry, = struct.unpack_from(self.port.order + "Q", self._page(at & -PAGE), at % PAGE)
            if not entry & self.port.VALID:
                return None
            table, inside = entry & self.port.ADDRESS, (1 << shift) - 1
            if entry & self.port.LEAF or level == 1:
                return (table & ~inside) + (address & inside)
        return None

    def read(self, address, size, root=None):
        data = b""
        while len(data) < size:
            at = address + len(data)
            physical = self.translate(at, root)
            if physical is None:
                raise TarnError(f"nothing is mapped at {at:#x}")
            data += self._page(physical & -PAGE)[at % PAGE:][:size - len(data)]
        return data

    def load(self, address, root=None):
        """Returns a word, or None if it cannot be read."""
        try:
            return struct.unpack(self.port.order + "Q", self.read(address, 8, root))[0]
        except TarnError:
            return None

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

    def threads(self):
        """Each struct thread, including idle threads, oldest first, as far as their list (kernel/lib/list.h) can be followed."""
        head = self.address_of("'kernel/sched/thread.c'::thread_list")
        inside = next(f.bitpos // 8 for f in gdb.lookup_type("struct thread").fields() if f.name == "all")
        at = self.load(head)
        for _ in range(LIST_MAX):
            if at == head:
                return
            if not at:
                break
            yield self.at(at - inside, "struct thread")
            at = self.load(at)
        gdb.write(f"warning: the list at {head:#x} is damaged; elements may be missing\n", gdb.STDERR)

    def cpus(self):
        """Each struct cpu, by number."""
        kind, first = gdb.lookup_type("struct cpu"), self.address_of("cpus")
        return [self.at(first + i * kind.sizeof, kind) for i in range(int(self.variable("cpu_count")))]

    def thread_name(self, thread):
        block = int(thread["block"])
        return text(self.at(block, "struct thread_block")["name"]) if block else "?"

    def chain(self, registers, root=None):
        """Return addresses, innermost first, at most CHAIN_MAX. A stack frame begins with the address of the caller's frame."""
        def load(address):
            return self.load(address, root)
        at, link = self.port.first_frame(registers, load)
        found = [registers[self.port.program_counter], *([link] if link else [])]
        while at and at % 8 == 0 and (address := load(at + self.port.return_address)) and len(found) < CHAIN_MAX:
            found += [address] if address != link else []
            link, outer = None, load(at)
            if not outer or outer <= at:
                break
            at = outer
        return found
