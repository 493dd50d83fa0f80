# SPDX-License-Identifier: BSD-2-Clause
"""gdb commands for a stopped guest or a dump. README.md shows how to use them.

    gdb-multiarch -x tools/gdb/tarn.py build/ARCH/kernel/tarn.elf
    (gdb) target remote SOCKET      QEMU's gdb stub; or: core-file FILE (from dump-guest-memory)
    (gdb) tarn threads
"""
import os
import sys

import gdb

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True  # write no __pycache__

from tarn_gdb import TarnError  # noqa: E402
from tarn_gdb.kernel import Kernel, text  # noqa: E402
from tarn_gdb.stack import Stacks, find_program  # noqa: E402
from tarn_gdb.trace import read_trace  # noqa: E402
from tarn_gdb.waits import Waits  # noqa: E402

HOST_TOOL = os.path.join(BUILD, "host/tarn")


def program_folders(kernel):
    """Folder of programs with symbols: beside an exploring or mutant kernel, else in the build."""
    return os.path.join(os.path.dirname(kernel.path), "user"), os.path.join(BUILD, kernel.port.name, "user")


def print_table(headings, rows):
    """Prints a table; columns are as wide as needed."""
    rows = [headings, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(headings) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        gdb.write("  ".join([*cells, row[-1]]).rstrip() + "\n")


def number(word, what):
    try:
        return int(word, 0)
    except ValueError:
        raise TarnError(f"{what} must be a number, not {word!r}") from None


def process_of(kernel, thread):
    """(pid, name); idle threads belong to the kernel."""
    if not int(thread["space"]):
        return 0, "kernel"
    space = kernel.at(int(thread["space"]), "struct space")
    return int(space["pid"]), text(space["name"])


def print_threads(kernel, _words):
    waits = Waits(kernel)
    rows = []
    for at, thread in kernel.threads().items():
        cpu = kernel.at(int(thread["cpu"]), "struct cpu")
        state = waits.state(thread)
        if state == "running" and int(cpu["current"]) != at:  # idle threads always have this state
            state = "ready"
        rows.append((int(thread["tid"]), *process_of(kernel, thread), kernel.thread_name(thread), int(cpu["index"]),
                     int(thread["priority"]), state, waits.describe(at, thread)))
    print_table(("TID", "PID", "PROCESS", "THREAD", "CPU", "PRIO", "STATE", "WAITS FOR"), rows)


def print_backtrace(kernel, words):
    if len(words) != 1:
        raise TarnError("give a thread ID; `tarn threads` lists them")
    tid = number(words[0], "TID")
    stacks = Stacks(kernel, program_folders(kernel))
    for thread in kernel.threads().values():
        if int(thread["tid"]) == tid and tid:
            gdb.write(f"thread {tid} {kernel.thread_name(thread)}\n")
            gdb.write("".join(f"  {line}\n" for line in stacks.of_thread(thread)))
            return
    raise TarnError(f"no thread {tid}; `tarn threads` lists them")


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
    wish = os.environ.get("TARN_GOTO_WISH")
    if not wish:
        raise TarnError("this command needs a gdb started by `tarn goto`")
    with open(wish, "w"):
        pass
    gdb.execute("quit")


def parse_trace_words(words):
    """[previous] [N] [cpu C] [class NAME], in any order; the last two as options of `tarn list`."""
    previous, count, filters = False, 20, []
    words = iter(words)
    for word in words:
        if word in ("cpu", "class"):
            value = next(words, None)
            if value is None:
                raise TarnError(f"{word}: value missing")
            filters += [f"--{word}", value]
        elif word in ("previous", "--previous"):
            previous = True
        else:
            count = number(word, "expected previous, N, cpu C or class NAME")
    return previous, count, filters


def print_trace(kernel, words):
    events, messages = read_trace(kernel.target, HOST_TOOL, *parse_trace_words(words))
    gdb.write(messages + events)


class TarnCommand(gdb.Command):
    """Shows the state of a stopped guest, or of a dump.

Start gdb-multiarch with build/ARCH/kernel/tarn.elf, then use `target remote` with the socket of QEMU's -gdb, or
`core-file` with a file from dump-guest-memory (paging=false)."""

    def __init__(self):
        super().__init__("tarn", gdb.COMMAND_DATA, prefix=True)


class Command(gdb.Command):
    """One command; `action(kernel, words)` prints its output."""

    def __init__(self, name, action, choices=()):
        self.action, self.choices = action, choices
        super().__init__(f"tarn {name}", gdb.COMMAND_DATA)

    def invoke(self, arguments, _from_tty):
        try:
            self.action(Kernel(), gdb.string_to_argv(arguments))
        except TarnError as error:
            raise gdb.GdbError(str(error)) from None

    def complete(self, _text, word):
        return [choice for choice in self.choices if choice.startswith(word or "")]


# gdb shows a command's __doc__ as its help.
COMMANDS = {
    "threads": (print_threads, (), "All threads: CPU, priority, state, and what they wait for."),
    "bt": (print_backtrace, (), "Call chain of a thread: tarn bt TID\n\nThe program's part has symbols if "
           "build/ARCH/user has that program. For a running thread the kernel's part is shown, too."),
    "program": (load_program, (), "Adds the symbols of the program on the selected CPU; `thread N` selects a CPU.\n\n"
                "Does nothing if the kernel itself runs, or if build/ARCH/user lacks the program."),
    "before": (go_before, (), "With `tarn goto`: goes to the previous event of the same thread.\n\n"
               "The guest runs again up to that event, and gdb restarts."),
    "trace": (print_trace, ("previous", "cpu", "class"), "The last events of all CPUs, merged by time: "
              "tarn trace [previous] [N] [cpu C] [class NAME]\n\nprevious: the trace of the previous boot. "
              "N: number of events (20).\ncpu: only this CPU. class: only this class.\nbuild/host/tarn reads them from a dump of the "
              "guest's memory, in the directory for temporary files (TMPDIR)."),
}

gdb.execute("set remotetimeout 60")  # seconds; QEMU writes a dump, and a busy host may not run it for a while
TarnCommand()
for command, (function, completions, help_text) in COMMANDS.items():
    type(f"Tarn{command.title()}", (Command,), {"__doc__": help_text})(command, function, completions)
