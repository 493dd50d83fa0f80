"""The recipe of a deterministic run: everything that decides it (icount in tools/guest.py).

A summary goes into the trace's environment through the boot option `recipe=...`. The full recipe goes into FILE.recipe beside
FILE, the machine's memory; `tarn pull ram:FILE` copies it into the trace's directory as .recipe.json. Its `command` starts the machine
again; add a console (-serial file:PATH -display none), a memory-backend-file to read the memory, -gdb, -S, -qmp.
"""
import functools
import hashlib
import json
import os
import re
import subprocess

VERSION = 2
HASH_DIGITS = 16  # in the boot option, which is limited in length

# Arguments of guest.machine_command that exclude deterministic runs: (name, reason).
UNREPEATABLE = {
    "firmware": ("boot through the firmware", "it does not execute the same instructions each time"),
    "kvm": ("KVM", "only the emulator can count instructions"),
    "port": ("network", "packets arrive when the host sends them"),
    "serial_link": ("serial link", "bytes arrive when the host sends them"),
    "rng": ("random number generator", "its numbers come from the host; use the seed instead"),
}


def unrepeatable(machine):
    """What prevents a deterministic run: (name, reason), or None."""
    return next((known for name, known in UNREPEATABLE.items() if machine.get(name)), None)


def add_options(parser):
    parser.add_argument("--deterministic", action="store_true", help="use a deterministic machine; see boot/README.md")
    parser.add_argument("--seed", type=int, help="seed of its random numbers (default: 1)")


def parse(parser):
    """Parses the arguments; sets a default seed."""
    choice = parser.parse_args()
    if choice.seed is not None and not choice.deterministic:
        parser.error("--seed requires --deterministic; other machines get random numbers from the host")
    choice.seed = 1 if choice.seed is None else choice.seed
    return choice


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def emulator(program):
    """The emulator's name and version, as it prints them."""
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def make(program, kernel, archive, library, **decided):
    """The recipe without the emulator's command. library: the one that is loaded into the emulator (tools/emulator). decided: arch, seed,
    processors, memory, options."""
    decided["options"] = " ".join(decided["options"].split())
    return {"version": VERSION, **decided, "emulator": emulator(program),
            **{name: {"path": path, "sha256": digest(path)}
               for name, path in (("kernel", kernel), ("archive", archive), ("library", library))}}


def boot_option(recipe):
    """The summary for the guest's command line: what the guest cannot find out itself. tools/tarn/goto/recipe.c
    compares it with the file."""
    version = re.search(r"version (\S+)", recipe["emulator"])[1]
    return (f"recipe=kernel:{recipe['kernel']['sha256'][:HASH_DIGITS]},archive:{recipe['archive']['sha256'][:HASH_DIGITS]},"
            f"seed:{recipe['seed']},processors:{recipe['processors']},memory:{recipe['memory']},emulator:{version}")


def forget(memory_file):
    """Removes the memory file and its recipe: old contents of the memory would also decide the run."""
    for path in memory_file, memory_file + ".recipe":
        if os.path.exists(path):
            os.unlink(path)


def write(memory_file, recipe, command):
    """command: the emulator's, without consoles, debugging options and the memory file."""
    with open(memory_file + ".recipe", "w") as file:
        json.dump({**recipe, "command": command}, file, indent=1)
        file.write("\n")
