"""Finds which of many things are needed for something to happen. tools/explore.py uses it for perturbations."""


def prefix(count, happens):
    """Returns the shortest sufficient 1..n, by binary search: later ones do not affect earlier ones."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if happens(list(range(1, middle + 1))):
            high = middle
        else:
            low = middle + 1
    return list(range(1, high + 1))


def fewest(count, happens, tries):
    """Returns a sufficient choice of 1..count, and whether none of it can be left out. happens(numbers) tells whether a choice is
    sufficient; all numbers together are. After `tries` calls it returns the best so far.
    It leaves out parts whose length halves from pass to pass (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
    Input, 2002), at last single numbers, until a pass leaves out none."""
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


def ranges(numbers, between="+"):
    """Formats ascending numbers, as for the kernel's option keep=: 1-20+25; 0, which is not a perturbation, stands for none."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return between.join(f"{a}-{b}" if a != b else f"{a}" for a, b in found) or "0"
