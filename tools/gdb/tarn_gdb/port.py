"""Architecture differences: kernel addresses, page tables, registers and stacks. The facts come from
arch/ARCH/include/port/*.h and arch/ARCH/backtrace.c.

Each port has: name, order (of bytes, as `struct` has it), registers (names in gdb) and

    offset(address)             physical address, if the kernel maps it at a constant offset; otherwise None
    kernel_root(kernel)         physical address of the root table of the kernel's addresses
    next_table(entry)           of a page-table entry: (valid, leaf, physical address)
    index(address, level)       which entry of a table; level 4 is the root, 1 holds pages of 4 KiB
    from_frame(frame)           a thread's user registers, from its struct arch_frame
    chain(registers, load)      return addresses, innermost first; load(address) reads a word, or returns None
"""
import struct

from tarn_gdb import TarnError

CHAIN_MAX = 64


class X86_64:
    name, machine, order = "x86_64", 62, "<"
    registers = "rip", "rbp", "rsp"
    program_counter = "rip"
    DIRECT_MAP, DIRECT_MAP_END, KERNEL_BASE = 0xFFFF800000000000, 0xFFFFC00000000000, 0xFFFFFFFF80000000
    PRESENT, LARGE, ADDRESS = 1, 1 << 7, 0x000FFFFFFFFFF000

    def offset(self, address):
        if address >= self.KERNEL_BASE:
            return address - self.KERNEL_BASE
        return address - self.DIRECT_MAP if self.DIRECT_MAP <= address < self.DIRECT_MAP_END else None

    def kernel_root(self, kernel):
        return int(kernel.at(int(kernel.variable("arch_kernel_space")), "struct arch_space")["root"])

    def index(self, address, level):
        return address >> 12 + 9 * (level - 1) & 511

    def next_table(self, entry):
        return entry & self.PRESENT, entry & self.LARGE, entry & self.ADDRESS

    def is_kernel(self, address):
        return address >= 1 << 63

    def from_frame(self, frame):
        return {name: int(frame[name]) for name in self.registers}

    def chain(self, registers, load):
        """A stack frame contains the caller's frame pointer, then the return address."""
        yield registers["rip"]
        at = registers["rbp"]
        while at % 8 == 0 and (address := load(at + 8)):
            yield address
            outer = load(at)
            if not outer or outer <= at:
                return
            at = outer


class Ppc64:
    name, machine, order = "ppc64", 21, ">"
    registers = "pc", "lr", "r1"
    program_counter = "pc"
    DIRECT_MAP, TRACE_WINDOWS = 0xC000000000000000, 0xC008000000000000
    VALID, LEAF, ADDRESS = 1 << 63, 1 << 62, 0x01FFFFFFFFFFF000

    def offset(self, address):
        return address - self.DIRECT_MAP if self.DIRECT_MAP <= address < self.TRACE_WINDOWS else None

    def kernel_root(self, kernel):
        return int(kernel.variable("kernel_root"))

    def index(self, address, level):
        return address >> 12 + 9 * (level - 1) & (8191 if level == 4 else 511)

    def next_table(self, entry):
        return entry & self.VALID, entry & self.LEAF, entry & self.ADDRESS

    def is_kernel(self, address):
        return address >= self.DIRECT_MAP

    def from_frame(self, frame):
        return {"pc": int(frame["nip"]), "lr": int(frame["lr"]), "r1": int(frame["gpr"][1])}

    def chain(self, registers, load):
        """A stack frame begins with the address of the caller's frame. A function stores its return address two words above
        that, in the caller's frame. The innermost function's return address may still be in LR; LR may also be unrelated."""
        yield registers["pc"]
        link = registers["lr"]
        if link:
            yield link
        at = load(registers["r1"])
        while at and at % 8 == 0 and (address := load(at + 16)):
            if address != link:
                yield address
            link = None
            outer = load(at)
            if not outer or outer <= at:
                return
            at = outer


def find_port(path):
    """The port of the kernel's executable."""
    with open(path, "rb") as file:
        header = file.read(20)
    for port in X86_64, Ppc64:
        if header[:4] == b"\x7fELF" and struct.unpack_from(port.order + "H", header, 18)[0] == port.machine:
            return port()
    raise TarnError(f"{path} is not a Tarn kernel: start gdb with build/ARCH/kernel/tarn.elf")
