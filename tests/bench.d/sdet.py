"""One run of sdet in a guest on one CPU under -icount (tests/bench.d/sdet.rc), for 15-sdet and 16-watch-routines."""
import os
import re

from figures import ARCH, guest

SCRIPTS, ROUNDS = 8, 6  # tests/bench.d/sdet.rc
COUNTS = re.compile(r"^ *0 +(\d+) +(\d+) +(\d+) +\d+ +0$")


def count_samples(lines):
    """Of locks, in the tables that the script prints before and after: the difference."""
    sums = []
    for line in lines:
        if re.match(r"^ *lock_class +sampled", line):
            sums.append(0)
        elif sums and (found := re.match(r"^ *[a-z][a-z -]*[a-z] +(\d+) +\d+", line)):
            sums[-1] += int(found[1])
    return sums[-1] - sums[0] if len(sums) == 2 else 0


def count_routines(lines):
    """Ends of routines, but for those of idle threads, in the routines that the script prints before and after: the difference."""
    sums = []
    for line in lines:
        if re.match(r"^routine +own ", line):
            sums.append(0)
        elif sums and (found := re.match(r"^([a-z_].*?) {2,}.* (\d+) +\S+$", line)) and found[1] not in ("idle", "timer", "out idle"):
            sums[-1] += int(found[2])
    return sums[-1] - sums[0] if len(sums) == 2 else 0


class Run:
    """instructions of the guest; events, words and packets logged meanwhile; sampled acquisitions; counted routines."""

    def __init__(self, directory, options, script="sdet", **machine):
        with guest.Guest(log=os.path.join(directory, "serial.log"), options=f"run=/test/{script} exit=1 {options}", arch=ARCH, smp=1,
                         icount=True, network=False, **machine) as vm:
            if status := vm.wait_exit(400):
                raise guest.GuestError(f"ended with status {status}\n{vm.tail()}")
            counts = [[int(number) for number in found.groups()] for line in vm.lines if (found := COUNTS.match(line))]
            elapsed = [float(found[1]) for line in vm.lines if (found := re.search(r"^sdet: .*: ([0-9.]+) s, \d+ scripts/hour$", line))]
        if len(counts) != 2 or len(elapsed) != 1:
            raise guest.GuestError(f"no result of sdet with {options}\n{vm.tail()}")
        self.instructions = elapsed[0] * 1e9
        self.samples = count_samples(vm.lines)
        self.routines = count_routines(vm.lines)
        self.words, self.packets, self.events = (last - first for first, last in zip(*counts))
