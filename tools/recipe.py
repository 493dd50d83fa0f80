# SPDX-License-Identifier: BSD-2-Clause
"""The recipe of a run: all that decides what a machine does that repeats itself (icount in tools/guest.py).

It goes two ways: as the boot option `recipe=...` into the trace's environment, and in full into FILE.recipe beside FILE, the
machine's memory, from where `tarn pull ram:FILE` takes it into the trace's directory.
"""
import functools
import hashlib
import json
import os
import re
import subprocess

VERSION = 1
HASH_DIGITS = 16  # in the boot option, of which the kernel keeps few bytes

# What does not go with it (arguments of guest.machine_command), what it is called, and why.
UNREPEATABLE = {
    "firmware": ("boot through the firmware", "that does not execute the same instructions each time"),
    "kvm": ("KVM", "only the emulator can count instructions"),
    "port": ("network", "packets come when the host sends them"),
    "serial_link": ("serial link", "bytes come when the host sends them"),
    "rng": ("random number generator", "its numbers come from the host; the seed serves instead"),
}


def unrepeatable(machine):
    """What keeps a machine from repeating itself: (what it is called, why); None: nothing."""
    return next((known for name, known in UNREPEATABLE.items() if machine.get(name)), None)


def add_options(parser):
    parser.add_argument("--deterministic", action="store_true", help="a machine that repeats itself to the bit: boot/README.md")
    parser.add_argument("--seed", type=int, help="of such a machine's random numbers (default: 1)")


def parse(parser):
    """The arguments that a program was given, with a seed."""
    choice = parser.parse_args()
    if choice.seed is not None and not choice.deterministic:
        parser.error("--seed is for --deterministic: another machine's random numbers come from the host")
    choice.seed = 1 if choice.seed is None else choice.seed
    return choice


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def emulator(program):
    """Its name and version, as it tells them."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def make(program, kernel, archive, **decided):
    """The recipe but for the emulator's command. decided: arch, seed, processors, memory, options."""
    decided["options"] = " ".join(decided["options"].split())
    return {"version": VERSION, **decided, "emulator": emulator(program),
            "kernel": {"path": kernel, "sha256": digest(kernel)}, "archive": {"path": archive, "sha256": digest(archive)}}


def boot_option(recipe):
    """What the guest cannot know of itself, short enough for its command line. tools/tarn/command/recipe.c compares it with
    the file."""
    version = re.search(r"version (\S+)", recipe["emulator"])[1]
    return (f"recipe=kernel:{recipe['kernel']['sha256'][:HASH_DIGITS]},archive:{recipe['archive']['sha256'][:HASH_DIGITS]},"
            f"seed:{recipe['seed']},processors:{recipe['processors']},memory:{recipe['memory']},emulator:{version}")


def forget(memory_file):
    """A file that becomes a machine's memory must be empty: what lies in it would decide the run, too."""
    for path in memory_file, memory_file + ".recipe":
        if os.path.exists(path):
            os.unlink(path)


def write(memory_file, recipe, command):
    """command: of the emulator, without its consoles, what is there to look at it, and the memory's file."""
    with open(memory_file + ".recipe", "w") as file:
        json.dump({**recipe, "command": command}, file, indent=1)
        file.write("\n")
