# SPDX-License-Identifier: BSD-2-Clause
"""One boot of a script of tests/bench.d on several CPUs that take short turns, under -icount (tools/emulator/short_turns.c), for
17-routines."""
import os
import re

from figures import ARCH, guest

PLUGIN = os.path.join(guest.ROOT, "build/host/short_turns.so")
TURN = "50"  # instructions


def count(directory, workload, cpus, option, turn=TURN):
    """Returns the instructions of a boot with this workload: elapsed, work."""
    out = os.path.join(directory, "turns")
    with guest.Guest(log=os.path.join(directory, "serial.log"), options=f"run=/test/turns_{workload} exit=1 trace.mask=off {option}",
                     arch=ARCH, smp=cpus, icount=True, network=False, extra=["-plugin", f"{PLUGIN},turn={turn},out={out}"]) as vm:
        if status := vm.wait_exit(900):
            raise guest.GuestError(f"{workload} on {cpus} CPUs, {option}: status {status}\n{vm.tail()}")
    with open(out, encoding="ascii") as file:
        found = re.fullmatch(r"total (\d+) parallel (\d+)\n", file.read())
    return int(found[2]), int(found[1])


def count_more(directory, workload, cpus, option):
    """The same, less a boot that runs nothing."""
    return [some - least for some, least in zip(count(directory, workload, cpus, option), count(directory, "none", cpus, option))]
