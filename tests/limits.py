# SPDX-License-Identifier: BSD-2-Clause
"""The limits of figures in instructions, from tests/bench.d/limits."""
import os

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench.d/limits")


def read(arch):
    """name -> instructions allowed on this machine"""
    with open(FILE, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    columns = next(words[1:] for words in lines if words[:2] == ["#", "figure"])
    allowed = {}
    for words in lines:
        if words and words[0] != "#":
            counted, said = int(words[columns.index("counted")]), words[columns.index(arch)]
            allowed[words[0]] = int(counted * float(said[1:])) if said.startswith("*") else int(said)
    return allowed


def of(allowed, figure):
    """The limit of the longest name that the figure begins with; None: there is none."""
    names = [name for name in allowed if figure == name or figure.startswith(name + ".")]
    return allowed[max(names, key=len)] if names else None
