"""Sessions with the kernel's debugger on a guest's serial console, for tests."""
import re
import time

import end_to_end as e2e
from end_to_end import guest

KEYS = "\x1d\x1dd"


class Debugger:
    """Runs commands in the debugger or, outside a session, in the shell, and returns their output."""

    def __init__(self, machine):
        self.machine, self.at, self.marks = machine, 0, 0

    @classmethod
    def of_ready(cls, machine):
        """When the shell has been started, and answers."""
        console = cls(machine)
        console.wait(r"^tarn: ready")
        console.shell("echo shell''-runs")
        console.wait(r"^shell-runs")
        return console

    def wait(self, pattern, seconds=60):
        self.at, match = self.machine.wait_line(pattern, seconds, self.at)
        self.at += 1
        return match

    def entered(self, reason, seconds=60):
        match = self.wait(r"\*\*\* debugger: (.*), on cpu (\d+) at (\S+)", seconds)
        begun = self.at
        self.wait(r"^help lists the commands", 60)
        e2e.check(match[1] == reason, f"enter: {reason}", match[0])
        return self.machine.lines[begun:self.at - 1]

    def keys(self):
        self.machine.type(KEYS)
        return self.entered("keys")

    def shell(self, command):
        self.machine.type(command + "\n")

    def run(self, command, seconds=120):
        """The lines that a command prints. The debugger ignores what begins with #, but echoes it."""
        self.marks += 1
        begun = self.at
        self.machine.type(f"{command}\n# {self.marks}\n")
        end, _ = self.machine.wait_line(rf"debug> # {self.marks}$", seconds, begun)
        self.at = end + 1
        lines = self.machine.lines[begun:end]
        first = next(i for i, line in enumerate(lines) if line.endswith("debug> " + command))
        return lines[first + 1:]

    def expect(self, command, *patterns, what=None):
        lines = self.run(command)
        text = "\n".join(lines)
        missing = [pattern for pattern in patterns if not re.search(pattern, text, re.M)]
        e2e.check(not missing, f"{what or command}", f"no match for {missing} in:\n{text}")
        return lines

    def stopped_cpus(self, seconds=60):
        """What the command `cpu` prints once all have stopped, which on a busy host some do during the session."""
        for _ in range(seconds):
            lines = self.run("cpu")
            if not any(" no answer " in line for line in lines):
                break
            time.sleep(1)
        return lines

    def go_on(self):
        self.machine.type("continue\n")
        self.wait(r"debug> continue$")

    def look_until(self, command, pattern, seconds=60):
        """Looks in until the command's output has what programs do that have just been started, and stays there. Its output."""
        end = time.monotonic() + seconds * self.machine.patience
        while True:
            time.sleep(1)
            self.keys()
            text = "\n".join(self.run(command))
            if re.search(pattern, text, re.M) or time.monotonic() > end:
                return text
            self.go_on()

    def is_alive(self, what):
        self.machine.type("\n")
        self.shell("echo ali''ve; sdet -n 2 >/tmp/sdet.out && echo sdet''-ran")
        try:
            self.wait(r"sdet-ran$", 120)
            e2e.check(True, f"{what}: the system continues")
        except guest.GuestError as error:
            e2e.check(False, f"{what}: the system continues", error)
            raise
