"""gdb commands for a stopped guest. README.md shows how to use them.

    gdb-multiarch -x tools/gdb/tarn.py build/ARCH/kernel/tarn.elf
    (gdb) target remote SOCKET      QEMU's gdb stub
    (gdb) tarn bt TID
"""
import contextlib
import glob
import os
import struct
import sys

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True  # write no __pycache__

from tarn_guest import Kernel, TarnError, at_path  # noqa: E402


def has_build_id(path, wanted):
    """Whether an ELF file of either byte order has a GNU build-id that begins so."""
    with open(path, "rb") as file:
        data = file.read()
    return any(struct.pack(order + "III", len(b"GNU\0"), 20, 3) + b"GNU\0" + wanted in data for order in "<>")


def find_program(kernel, thread):
    """The file with the symbols of a thread's program, by build-id, from beside an exploring or mutant kernel or from the build;
    None: not found."""
    space = kernel.at(int(thread["space"]), "struct space")
    wanted = struct.pack(">QQ", *(int(space["build_id"][i]) for i in range(2)))
    folders = os.path.join(os.path.dirname(kernel.path), "user"), os.path.join(BUILD, kernel.port.name, "user")
    paths = (path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "*"))) if any(wanted))
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


def user_chain(kernel, thread, registers, is_syscall):
    """is_syscall: the program counter is the return address of a system call."""
    root = int(kernel.at(int(thread["space"]), "struct space")["arch"]["root"])
    path = find_program(kernel, thread)
    with symbols_of(path):
        lines = [describe(address, i > 0 or is_syscall) for i, address in enumerate(kernel.chain(registers, root))]
    return ([] if path else ["(no symbols: build/ARCH/user has no such program)"]) + lines


def chain_of(kernel, thread):
    """Returns lines of text. A running thread's kernel part comes from its CPU's registers."""
    def is_kernel(address):
        return address >= 1 << 63
    lines, is_syscall = [], not int(thread["frame"]["interrupted"])
    registers = {name: at_path(thread["frame"], path) for name, path in kernel.port.registers.items()}
    if int(thread["on_cpu"]):
        now = kernel.registers(int(kernel.at(int(thread["cpu"]), "struct cpu")["index"]))
        if is_kernel(now[kernel.port.program_counter]):
            lines += [describe(address, i > 0) for i, address in enumerate(kernel.chain(now)) if is_kernel(address)]
        else:
            registers, is_syscall = now, False
    if int(thread["space"]):
        lines += ["-- user --"] if lines else []
        lines += user_chain(kernel, thread, registers, is_syscall)
    return lines


def print_backtrace(kernel, words):
    if len(words) != 1:
        raise TarnError("give a thread ID, such as `tarn threads` of the trace lists")
    try:
        tid = int(words[0], 0)
    except ValueError:
        raise TarnError(f"TID must be a number, not {words[0]!r}") from None
    thread = next((thread for thread in kernel.threads() if tid and int(thread["tid"]) == tid), None)
    if thread is None:
        raise TarnError(f"no thread {tid}")
    gdb.write(f"thread {tid} {kernel.thread_name(thread)}\n" + "".join(f"  {line}\n" for line in chain_of(kernel, thread)))


def load_program(kernel, _words):
    selected = gdb.selected_thread()
    if not selected:
        raise TarnError("no CPU is selected; this command needs a stopped guest")
    current = next((int(cpu["current"]) for cpu in kernel.cpus() if int(cpu["index"]) == selected.ptid[1] - 1), 0)
    thread = kernel.at(current, "struct thread") if current else None
    path = find_program(kernel, thread) if thread and int(thread["space"]) else None
    if path:
        gdb.execute(f"add-symbol-file {path}", to_string=True)


def go_before(_kernel, _words):
    status = os.environ.get("TARN_GOTO_BEFORE")
    if not status:
        raise TarnError("this command needs a gdb started by `tarn goto`")
    gdb.execute(f"quit {status}")


class TarnCommand(gdb.Command):
    """Shows the state of a stopped guest.

Start gdb-multiarch with build/ARCH/kernel/tarn.elf, then use `target remote` with the socket of QEMU's -gdb."""

    def __init__(self):
        super().__init__("tarn", gdb.COMMAND_DATA, prefix=True)


class Command(gdb.Command):
    """One command; `action(kernel, words)` prints its output."""

    def __init__(self, name, action):
        self.action = action
        super().__init__(f"tarn {name}", gdb.COMMAND_DATA)

    def invoke(self, arguments, _from_tty):
        try:
            self.action(Kernel(), gdb.string_to_argv(arguments))
        except TarnError as error:
            raise gdb.GdbError(str(error)) from None


# gdb shows a command's __doc__ as its help.
COMMANDS = {
    "bt": (print_backtrace, "Call chain of a thread: tarn bt TID\n\nThe program's part has symbols if "
           "build/ARCH/user has that program. For a running thread the kernel's part is shown, too."),
    "program": (load_program, "Adds the symbols of the program on the selected CPU; `thread N` selects a CPU.\n\n"
                "Does nothing if the kernel itself runs, or if build/ARCH/user lacks the program."),
    "before": (go_before, "With `tarn goto`: goes to the previous event of the same thread.\n\n"
               "The guest runs again up to that event, and gdb restarts."),
}

gdb.execute("set remotetimeout 60")  # seconds; a busy host may not run QEMU for a while
TarnCommand()
for command, (function, help_text) in COMMANDS.items():
    type(f"Tarn{command.title()}", (Command,), {"__doc__": help_text})(command, function)
