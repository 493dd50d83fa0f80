"""Call chains in the kernel and in user programs, with symbols."""
import contextlib
import glob
import os
import struct

import gdb

from tarn_gdb.port import CHAIN_MAX

def has_build_id(path, wanted):
    """Whether an ELF file of either byte order has a GNU build-id that begins so."""
    with open(path, "rb") as file:
        data = file.read()
    notes = (struct.pack(order + "III", len(b"GNU\0"), 20, 3) + b"GNU\0" for order in "<>")
    return any(note + wanted in data for note in notes)


def find_program(folders, space):
    """The file with the symbols of a space's program, by build-id; None: not found."""
    wanted = struct.pack(">QQ", *(int(space["build_id"][i]) for i in range(2)))
    if not any(wanted):
        return None
    paths = (path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "*"))))
    return next((path for path in paths if os.path.isfile(path) and has_build_id(path, wanted)), None)


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
