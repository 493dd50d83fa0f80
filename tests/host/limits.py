"""The exact figures in instructions, from tests/bench.d/limits: read, compared, and taken over."""
import glob
import os
import re

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench.d/limits")
NONE = "-"  # this machine has no such figure
PATH = "path."  # figures of tests/unit/trace/path_test
BOUNDS = "host.", "sdet."  # of tests/host/compare_readers and sdet_cost; all others are the figures of tests/bench.d/10-instructions


def read_lines():
    with open(FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return lines, next(line.split()[2:] for line in lines if re.match(r"#\s+figure\b", line))


def read(arch):
    """name -> instructions on this machine"""
    lines, columns = read_lines()
    rows = [line.split() for line in lines if line and line[0] != "#"]
    values = {row[0]: row[1 + columns.index(arch)] for row in rows if not row[0].startswith(BOUNDS)}
    return {name: int(value) for name, value in values.items() if value != NONE}


def bound(name, arch=None):
    """At most so much; without ARCH it is the same on all machines."""
    lines, columns = read_lines()
    return next(int(line.split()[1 + columns.index(arch or columns[0])]) for line in lines if line.startswith(f"{name} "))


def classes():
    files = glob.glob(os.path.join(os.path.dirname(FILE), "../../trace/schema/*.ev"))
    return [name for file in sorted(files) for name in re.findall(r"^class (\w+) \d", open(file, encoding="utf-8").read(), re.M)]


def is_path(name):
    return name.startswith(PATH)


def differences(arch, figures, paths=False):
    """What differs from the file, in words. paths: these are the figures of path_test."""
    known = {name: value for name, value in read(arch).items() if is_path(name) == paths}
    for name, value in figures.items():
        if name not in known:
            yield f"{arch}.{name} is new: {value} instructions"
        elif value != known[name]:
            more = value - known[name]
            yield f"{arch}.{name}: {known[name]} instructions before, {value} now, {abs(more)} {'more' if more > 0 else 'less'}"
    for name in known.keys() - figures.keys():
        yield f"{arch}.{name} was not counted; it took {known[name]} instructions before"


def advice(arch):
    return f"if that is meant, run tests/bench --arch {arch} --accept and commit tests/bench.d/limits with the change"


def accept(arch, figures, paths=False):
    """Writes them into the machine's column. New names come last; rows that no machine has any more go."""
    lines, columns = read_lines()
    place = 1 + columns.index(arch)
    rows = {line.split()[0]: line.split() for line in lines if line and line[0] != "#"}
    for name, row in rows.items():
        if is_path(name) == paths and not name.startswith(BOUNDS):
            row[place] = NONE
    for name, value in figures.items():
        rows.setdefault(name, [name] + [NONE] * len(columns))[place] = str(value)
    with open(FILE, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines if not line or line[0] == "#")
        for name, *values in rows.values():
            if any(value != NONE for value in values):
                file.write(f"{name:<28}" + "".join(f"{value:>9}" for value in values) + "\n")
