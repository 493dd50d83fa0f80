# SPDX-License-Identifier: BSD-2-Clause
"""Which of many things does it take for something to happen? tools/explore.py asks it of perturbations."""


def prefix(count, happens):
    """The shortest 1..n that is enough. What comes later has no part in what came before, so halving finds it."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if happens(list(range(1, middle + 1))):
            high = middle
        else:
            low = middle + 1
    return list(range(1, high + 1))


def fewest(count, happens, tries):
    """Numbers of 1..count that are enough, and whether none of them can be left out. happens(numbers) tells whether a choice is
    enough, and all of them are. After so many `tries` the best until then is returned.
    Parts are left out that are half as long from pass to pass (Zeller and Hildebrandt, Simplifying and Isolating
    Failure-Inducing Input, 2002); single ones until a pass leaves out none."""
    left = [tries]

    def tried(numbers):
        left[0] -= 1
        return happens(numbers)

    kept = prefix(count, tried)
    size = max(1, len(kept) // 2)
    while kept:
        before, at = len(kept), 0
        while at < len(kept):
            if left[0] <= 0:
                return kept, False
            without = kept[:at] + kept[at + size:]
            if tried(without):
                kept = without
            else:
                at += size
        if size == 1 and len(kept) == before:
            break
        size = max(1, min(size // 2, len(kept) // 2))
    return kept, True


def ranges(numbers):
    """As the kernel's option keep= has them: 1-20+25; 0, which no perturbation has, for none."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return "+".join(f"{a}-{b}" if a != b else f"{a}" for a, b in found) or "0"
