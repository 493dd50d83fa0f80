"""gdb commands for a stopped guest. README.md shows how to use them.

    gdb-multiarch -x tools/gdb/tarn.py build/ARCH/kernel/tarn.elf
    (gdb) target remote SOCKET      QEMU's gdb stub
    (gdb) tarn bt TID
"""
import os
import sys

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True  # write no __pycache__

from tarn_gdb import TarnError  # noqa: E402
from tarn_gdb.kernel import Kernel  # noqa: E402
from tarn_gdb.stack import Stacks, find_program  # noqa: E402


def program_folders(kernel):
    """Folder of programs with symbols: beside an exploring or mutant kernel, else in the build."""
    return os.path.join(os.path.dirname(kernel.path), "user"), os.path.join(BUILD, kernel.port.name, "user")


def print_backtrace(kernel, words):
    if len(words) != 1:
        raise TarnError("give a thread ID, such as `tarn threads` of the trace lists")
    try:
        tid = int(words[0], 0)
    except ValueError:
        raise TarnError(f"TID must be a number, not {words[0]!r}") from None
    stacks = Stacks(kernel, program_folders(kernel))
    for thread in kernel.threads().values():
        if int(thread["tid"]) == tid and tid:
            gdb.write(f"thread {tid} {kernel.thread_name(thread)}\n")
            gdb.write("".join(f"  {line}\n" for line in stacks.of_thread(thread)))
            return
    raise TarnError(f"no thread {tid}")


def load_program(kernel, _words):
    selected = gdb.selected_thread()
    if not selected:
        raise TarnError("no CPU is selected; this command needs a stopped guest")
    cpus = {int(cpu["index"]): int(cpu["current"]) for _, cpu in kernel.cpus()}
    current = cpus.get(selected.ptid[1] - 1)
    thread = kernel.at(current, "struct thread") if current else None
    if not thread or not int(thread["space"]):
        return
    path = find_program(program_folders(kernel), kernel.at(int(thread["space"]), "struct space"))
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
