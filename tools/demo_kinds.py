# SPDX-License-Identifier: BSD-2-Clause
"""Finds whether kernel, server or application logged an event, from its line in `tarn list`. Used by the demo and its picture."""
import re

# Servers and applications are distinguished by the thread's name and the event's class.
LINE = re.compile(r"^\[\s*[\d.]+\] cpu\s*\d+ (?P<comm>.*?)/(?P<tid>\d+|\?)\s+(?P<event>\w+)")
SERVERS = {"init", "proc", "fs", "console", "net", "traced"}
KERNEL_CLASSES = {"sched", "ipc", "syscall", "exception", "irq", "ipi", "fault", "mem", "frame", "tlb", "lock",
                  "timer", "trace", "state", "process", "profile",
                  "power", "kmem", "lttng"}  # events of sched, frame and state with LTTng's names


def kind_of(line):
    match = LINE.match(line)
    if not match:
        return None
    if match["event"].split("_")[0] in KERNEL_CLASSES:
        return "kernel"
    return "server" if match["comm"].split(":")[0] in SERVERS else "application"
