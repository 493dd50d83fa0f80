#!/usr/bin/env python3
"""Which code do explored runs execute?   tools/coverage.py FILE...

Reads what `tarn explore --coverage-file FILE` has collected, on one machine or several, and ends with status 1 if a function of
the kernel, the ring, the servers or libc-glue was never reached and is not in tests/unreached.list, or if an entry there names
none that exists. An entry may be reached in one build and not in the next. tools/explore.py uses this module.

The compiler calls __sanitizer_cov_trace_pc at the start of each basic block (rules.mk); a line was reached if a block that has
code of it was.
"""
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys

from fewest import ranges

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JUDGED = ("kernel/", "trace/ring/", "servers/", "libc-glue/")
UNREACHED = os.path.join(ROOT, "tests/unreached.list")
CALL = re.compile(r"\b(?:call|bl)\s.*<\.?__sanitizer_cov_trace_pc")
PLACE = re.compile(r"(?:\./)*([\w./-]+):(\d+)")


def read_blocks(objdump, path):
    """Returns the basic blocks of an executable: (the address to which their first call returns, {(file, line)})."""
    process = subprocess.Popen([objdump, "-d", "-l", "--no-show-raw-insn", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    blocks, before, place, is_call = [], set(), None, False  # before: lines of the function before its first block
    has_block = False
    for line in process.stdout:
        if line[0] in "\n " and not line.strip():
            continue
        if line.endswith(">:\n"):
            before, has_block, place = set(), False, None
        elif ":\t" in line:
            if is_call:
                blocks.append([int(line.split(":")[0], 16), before])
                before, has_block, is_call = set(), True, False
            is_call = bool(CALL.search(line))
            if place:
                (blocks[-1][1] if has_block and not is_call else before).add(place)
        elif match := PLACE.match(line):
            place = (match[1], int(match[2]))
    return blocks


def functions(path):
    """Yields (name, first line, last line) of a C file's functions: their braces stand alone in the first column."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for i, line in enumerate(lines):
        if line != "{":
            continue
        begin = i
        while begin and lines[begin - 1] and not lines[begin - 1].startswith(("}", "#", " */", "/*")):
            begin -= 1
        names = re.findall(r"(\w+)\(", " ".join(lines[begin:i]))
        if name := next((name for name in names if not name.startswith("__attribute")), None):
            yield name, begin + 1, lines.index("}", i) + 1


def hash_of(path):
    try:
        with open(os.path.join(ROOT, path), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()[:16]
    except OSError:
        return ""


class Lines:
    """Lines that have code, and those of them that were reached, by file."""

    def __init__(self):
        self.known, self.reached = {}, {}

    def add(self, blocks, is_reached):
        for place, lines in blocks:
            was_reached = is_reached(place)
            for file, line in lines:
                self.known.setdefault(file, set()).add(line)
                if was_reached:
                    self.reached.setdefault(file, set()).add(line)

    def read(self, path):
        """Adds what a file has, except of sources that have changed since."""
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            for name, entry in json.load(file).items():
                if entry["hash"] == hash_of(name):
                    self.known.setdefault(name, set()).update(entry["known"])
                    self.reached.setdefault(name, set()).update(entry["reached"])

    def write(self, path):
        entries = {name: {"hash": hash_of(name), "known": sorted(known), "reached": sorted(self.reached.get(name, ()))}
                   for name, known in sorted(self.known.items()) if hash_of(name)}
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.replace(path + ".new", path)

    def judged(self):
        return [name for name in sorted(self.known) if name.startswith(JUDGED) and hash_of(name)]

    def by_function(self, name):
        """Yields (function, lines with code, those that were not reached)."""
        for function, first, last in functions(name):
            known = {line for line in self.known[name] if first <= line <= last}
            if known:
                yield function, known, known - self.reached.get(name, set())

    def report(self):
        """Returns what was not reached, as lines of text."""
        for name in self.judged():
            parts = list(self.by_function(name))
            total, missing = sum(len(known) for _, known, _ in parts), sum(len(left) for _, _, left in parts)
            if not missing:
                continue
            yield f"{name}: {total - missing} of {total} lines"
            if never := [function for function, known, left in parts if known == left]:
                yield f"    functions never reached: {', '.join(never)}"
            if some := [f"{function} {ranges(sorted(left), ', ')}" for function, known, left in parts if left and known != left]:
                yield f"    lines never reached: {'; '.join(some)}"

    def report_changed(self, revision):
        """Returns which lines changed since a revision of git were never executed, as lines of text."""
        changed = changed_lines(revision)
        for name, lines in sorted(changed.items()):
            known = lines & self.known.get(name, set())
            if left := known - self.reached.get(name, set()):
                yield f"{name}: {len(left)} of {len(known)} changed lines were never executed: {ranges(sorted(left), ', ')}"
            elif known:
                yield f"{name}: all {len(known)} changed lines with code were executed"
        if not changed:
            yield f"no file has changed since {revision}"


def changed_lines(revision):
    """Returns the lines of C files that differ from those of a revision, by file."""
    done = subprocess.run(["git", "diff", "-U0", "--no-color", "--no-prefix", revision, "--", "*.c", "*.h"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"git knows no {revision}: {done.stderr.strip().splitlines()[0]}")
    found, name = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("+++ "):
            name = line[4:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            found.setdefault(name, set()).update(range(int(match[1]), int(match[1]) + int(match[2] or 1)))
    return found


def read_list():
    """Yields (pattern of files, pattern of functions) from lines FILE FUNCTION,FUNCTION REASON."""
    with open(UNREACHED, encoding="utf-8") as file:
        for line in file:
            words = line.split(None, 2)
            if words and words[0] != "#":
                if len(words) < 3:
                    sys.exit(f"{UNREACHED}: no reason: {line.strip()}")
                yield from ((words[0], function) for function in words[1].split(","))


def main():
    lines, wrong = Lines(), []
    for path in sys.argv[1:]:
        lines.read(path)
    if not lines.judged():
        sys.exit(__doc__)
    entries, existing = list(read_list()), set()
    for name in lines.judged():
        for function, known, left in lines.by_function(name):
            matches = {entry for entry in entries if fnmatch.fnmatch(name, entry[0]) and fnmatch.fnmatch(function, entry[1])}
            existing |= matches
            wrong += [f"{name}: {function}"] if known == left and not matches else []
    wrong += [f"tests/unreached.list: {names} in {files} does not exist" for files, names in entries if (files, names) not in existing]
    print("\n".join(["not reached by any run, and not in tests/unreached.list:", *wrong] if wrong else ["all functions were reached, or are listed"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
