# SPDX-License-Identifier: BSD-2-Clause
"""The last events of the trace. The host tool reads them from a dump of the guest's memory."""
import os
import re
import subprocess
import tempfile

from tarn_gdb import TarnError

# Events at the begin and end of packets. At least every second event is another one, except after flushes.
OF_PACKET = re.compile(r"\[.*\] cpu \d+ \S+ +trace_(context|end):")
CPUS_MAX = 64
TIME = re.compile(r"^\[ *(\d+)\.(\d{9})\]")
START = os.environ.get("TARN_GOTO_START")  # of `tarn goto`'s trace: nanoseconds on its clock


def since_start(match):
    nanoseconds = int(match[1] + match[2]) - int(START)
    return f"[{'-' * (nanoseconds < 0) + str(abs(nanoseconds) // 10**9):>5}.{abs(nanoseconds) % 10**9:09}]"


def run(*words):
    """(exit status, output, messages) of the host tool."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise TarnError(f"{words[0]} does not run ({error.strerror}): `make` builds it") from None
    return done.returncode, done.stdout, done.stderr.replace("tarn: ", "")


def read_trace(target, tool, previous, count, filters):
    """(events, messages) as text. filters: options of `tarn list`."""
    with tempfile.TemporaryDirectory(prefix="tarn-gdb-") as directory:
        trace = os.path.join(directory, "trace")
        which, clock = ["--previous"] if previous else [], ["--clock"] if START and not previous else []
        status, _, messages = run(tool, "pull", f"core:{target.dump(directory)}", "-o", trace, "--quiet", *which)
        if status > 1:
            raise TarnError(messages.strip())
        status, events, errors = run(tool, "list", trace, "--tail", str(2 * count + CPUS_MAX), *clock, *filters)
        if status > 1:
            raise TarnError(errors.strip())
        about_trace = "".join(line for line in messages.splitlines(True) if directory not in line)
        logged = [line for line in events.splitlines(True) if not OF_PACKET.match(line)]
        logged = [TIME.sub(since_start, line) if clock else line for line in logged]
        return "".join(logged[-count:]), about_trace + errors
