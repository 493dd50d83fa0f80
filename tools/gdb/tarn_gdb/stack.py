# SPDX-License-Identifier: BSD-2-Clause
"""Call chains in the kernel and in user programs, with symbols."""
import contextlib
import glob
import os
import struct

import gdb

from tarn_gdb.port import CHAIN_MAX

NOTE_SECTION, GNU_BUILD_ID = 7, 3


def build_id(path):
    """Build-id of an ELF file of either byte order; None: it has none, or is not an ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:5] != b"\x7fELF\x02":
        return None
    order = "<" if data[5] == 1 else ">"
    table, = struct.unpack_from(order + "Q", data, 40)
    size, count = struct.unpack_from(order + "HH", data, 58)
    for i in range(count):
        _, kind, _, _, offset = struct.unpack_from(order + "IIQQQ", data, table + i * size)
        if kind == NOTE_SECTION:
            name, length, note = struct.unpack_from(order + "III", data, offset)
            if note == GNU_BUILD_ID:
                return data[offset + 12 + name:offset + 12 + name + length]
    return None


def find_program(folders, space):
    """The file with the symbols of a space's program, by build-id; None: not found."""
    wanted = struct.pack(">QQ", *(int(space["build_id"][i]) for i in range(2)))
    if not any(wanted):
        return None
    for path in (path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "*")))):
        if os.path.isfile(path) and (build_id(path) or b"")[:16] == wanted:
            return path
    return None


@contextlib.contextmanager
def symbols_of(path):
    """Context in which gdb knows a program's symbols. Only one at a time, because programs share addresses."""
    if path is None:
        yield
        return
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off")
    try:
        gdb.execute(f"add-symbol-file {path}", to_string=True)
        try:
            yield
        finally:
            gdb.execute(f"remove-symbol-file {path}", to_string=True)
    finally:
        gdb.execute(f"set confirm {'on' if confirm else 'off'}")


def describe(address, is_return):
    """Returns function, file and line. A return address points after the call."""
    at = address - 1 if is_return else address
    block, functions = gdb.block_for_pc(at), []
    while block:
        functions += [block.function.print_name] if block.function else []
        block = block.superblock
    if functions:
        name = functions[0] + (f" (inlined in {', '.join(functions[1:])})" if functions[1:] else "")
    else:
        symbol = gdb.execute(f"info symbol {at:#x}", to_string=True)
        name = "?" if symbol.startswith("No symbol") else symbol.split(" in section")[0]
    line = gdb.find_pc_line(at)
    where = f" at {line.symtab.filename}:{line.line}" if line.symtab and line.line else ""
    return f"{address:#018x} {name}{where}"


class Stacks:
    def __init__(self, kernel, programs):
        self.kernel, self.programs = kernel, programs

    def _chain(self, registers, root=None):
        chain = self.kernel.port.chain(registers, lambda address: self.kernel.load(address, root))
        return [address for address, _ in zip(chain, range(CHAIN_MAX))]

    def _user(self, registers, space, is_syscall):
        """is_syscall: the program counter is the return address of a system call."""
        root = int(space["arch"]["root"])
        path = find_program(self.programs, space)
        with symbols_of(path):
            lines = [describe(address, i > 0 or is_syscall) for i, address in enumerate(self._chain(registers, root))]
        return ([] if path else ["(no symbols: build/ARCH/user has no such program)"]) + lines

    def of_thread(self, thread):
        """Returns lines of text. A running thread's kernel part comes from its CPU's registers."""
        port, lines = self.kernel.port, []
        registers, is_syscall = port.from_frame(thread["frame"]), not int(thread["frame"]["interrupted"])
        if int(thread["on_cpu"]):
            cpu = self.kernel.at(int(thread["cpu"]), "struct cpu")
            now = self.kernel.registers(int(cpu["index"]))
            if port.is_kernel(now[port.program_counter]):
                lines += [describe(a, i > 0) for i, a in enumerate(self._chain(now)) if port.is_kernel(a)]
            else:
                registers, is_syscall = now, False
        if int(thread["space"]):
            space = self.kernel.at(int(thread["space"]), "struct space")
            lines += ["-- user --"] if lines else []
            lines += self._user(registers, space, is_syscall)
        return lines
