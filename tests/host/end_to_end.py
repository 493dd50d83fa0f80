"""Shared by host tests: TAP, `tarn`, guests and pulls of their traces, comparisons of readers."""
import atexit
import contextlib
import faulthandler
import filecmp
import glob
import itertools
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools"))
import guest  # noqa: E402

ARCH = os.environ.get("ARCH", guest.DEFAULT_ARCH)
PACE = guest.describe(ARCH)["patience"]  # how many times longer things take than on the fastest machine, idle
PATIENCE = guest.LENIENCE * PACE  # factor for limits, which end only what hangs
LONG = bool(os.environ.get("TEST_LONG"))  # make test-long
TARN = os.path.join(guest.ROOT, "build/host/tarn")
_checks, _checking = [], threading.Lock()

# A shell starts background jobs, and nohup its command, with these ignored, which children inherit. Tests end children by them.
for number in signal.SIGINT, signal.SIGHUP:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def bail_out(kind, error, trace):
    """An exception ends the test: its last line says so, in TAP, and there is no plan."""
    atexit.unregister(finish)
    sys.__excepthook__(kind, error, trace)
    said = str(error).splitlines() or [""]
    print(f"Bail out! {kind.__name__}: {said[0]}", flush=True)


sys.excepthook = bail_out
faulthandler.register(signal.SIGTERM, chain=True)  # tests/run ends a test that hangs: this prints where


def check(good, text, detail=""):
    """One line of TAP; `detail` explains a failure."""
    with _checking:
        _checks.append(bool(good))
        print(f"{'ok' if good else 'not ok'} {len(_checks)} - {text}", flush=True)
        if not good and detail:
            print("\n".join(f"# {line}" for line in str(detail).splitlines()[-40:]), flush=True)
    return good


@atexit.register
def finish():
    """A test that comes to its end has kept this plan. One that was skipped has no checks."""
    if _checks:
        print(f"1..{len(_checks)}", flush=True)
        os._exit(0 if all(_checks) else 1)


def skip(reason):
    """Ends a test that cannot run here."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def run(*command, seconds=300 * PATIENCE, **where):
    """Exit status, standard output and error. where: as subprocess.run has it."""
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, stdin=subprocess.DEVNULL,
                            **where)
    return result.returncode, result.stdout, result.stderr


def tarn(*words, **where):
    return run(TARN, *words, **where)


def ask(command, *words):
    """What a subcommand prints as JSON, also of a damaged trace."""
    status, out, err = tarn(command, "--json", *words)
    if status not in (0, 1):
        raise guest.GuestError(f"tarn {command} {' '.join(words)}: status {status}: {err}")
    return json.loads(out)


def sql(trace, query):
    status, out, err = tarn("sql", "--json", trace, " ".join(query.split()))
    if status != 0:
        raise guest.GuestError(f"tarn sql {query}: {err}")
    return json.loads(out)


def expect(what, result, *says, status=0):
    """That a command, of which RESULT is run()'s, ended with this status and printed each of these texts."""
    said = "".join(result[1:])
    check(result[0] == status and all(text in said for text in says), what, said)


def check_refused(command, *cases, statuses=(2,)):
    """Of each case, words and a text: the command prints nothing but an error that has the text."""
    for words, says in cases:
        status, out, err = tarn(*command.split(), *words)
        check(status in statuses and not out and says in err, f"refused: tarn {command} {' '.join(words)}: {says}", (status, out, err))


def analyses():
    return re.findall(r"^  ([a-z]+) ", tarn("--help")[1].split("Analyses of a trace:\n")[1], re.M)


def events(trace, names="*", *options):
    """Those with NAMES, one by one, as `tarn list --json` prints them."""
    with subprocess.Popen([TARN, "list", "--json", "--event", names, *options, trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace") as process:
        yield from map(json.loads, process.stdout)
    if process.returncode not in (0, 1):
        raise guest.GuestError(f"tarn list {names}: status {process.returncode}")


def make_trace(path, *options):
    """A synthetic trace there (tests/unit/tarn/tracegen.c), in place of any other; its path. From lines of text: trace_text.py."""
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run([os.path.join(guest.ROOT, "build/host/tracegen"), *options, path], check=True, stdout=subprocess.DEVNULL)
    return path


class Folder(str):
    """FOLDER / NAME is the path of a file in it."""

    def __truediv__(self, name):
        return Folder(os.path.join(self, name))


def out_directory(name):
    """An empty one, for what the test leaves behind: traces, consoles."""
    path = Folder(guest.ROOT) / "out/test" / f"{ARCH}-{name}"
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


@contextlib.contextmanager
def boot(log, **machine):
    """A guest of this machine, once its shell is ready."""
    with guest.Guest(log=log, arch=ARCH, **machine) as vm:
        vm.wait_line(r"^tarn: ready", 60)
        yield vm


class Pull:
    """`tarn pull` in the background. source: as for `tarn pull`; by default the network link."""

    def __init__(self, machine, trace, *options, source=None):
        self.trace, self.log = trace, open(trace + ".pull", "w+")
        self.process = subprocess.Popen([TARN, "pull", source or machine.link, "-o", trace, *options],
                                        stdout=self.log, stderr=subprocess.STDOUT)

    def wait_begun(self):
        """Until then, Ctrl-C would end it as it ends any program: without a trace."""
        wait_for(lambda: os.path.exists(os.path.join(self.trace, "metadata")) or self.process.poll() is not None,
                 "the pull has begun")

    def finish(self, seconds=90):
        """Ends it as Ctrl-C does, after which it has `seconds` (of the fastest machine). Its exit status (None: it did
        not end) and what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.wait(seconds)

    def wait(self, seconds=90):
        """The same for one that ends by itself."""
        try:
            status = self.process.wait(seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        self.log.seek(0)
        return status, self.log.read() or f"tarn pull printed nothing, and ended with status {status}"


def wait_for(condition, what, seconds=100):
    """Waits until condition() is true; raises after `seconds` (of the fastest machine)."""
    end = time.monotonic() + seconds * PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise guest.GuestError(f"never: {what}")
        time.sleep(0.1)


def refused_commands():
    """[(command, error)]: the same at each door (boot/root/test/control.cases)."""
    with open(os.path.join(guest.ROOT, "boot/root/test/control.cases"), encoding="utf-8") as file:
        return [line.rstrip("\n").split(" => ") for line in file if " => " in line]


def ctl(machine, *words):
    return tarn("ctl", machine.link, *words)


def statistics(machine):
    status, out, err = ctl(machine, "--json", "status")
    if status != 0:
        raise guest.GuestError(f"tarn ctl status: {out}{err}")
    return json.loads(out)


def wait_pulling(machine, wanted):
    """Waits until traced has a pull, or none any more; it notices the end when the connection ends."""
    def agrees():
        with contextlib.suppress(guest.GuestError):  # its places may be taken for a moment
            return statistics(machine)["pulling"] == wanted
        return False
    wait_for(agrees, f"pulling is {wanted} in the guest")


def wait_streams(trace, cpus, size=1):
    paths = [os.path.join(trace, f"cpu{cpu}") for cpu in cpus]
    wait_for(lambda: all(os.path.exists(path) and os.path.getsize(path) >= size for path in paths),
             f"{size} bytes of {', '.join(paths)}")


class Load:
    """A command that prints a line with its name at its end. A busy host hardly runs it, so it is started again until its purpose is reached."""

    def __init__(self, machine, command):
        self.machine, self.command = machine, command
        self.ends = self.count_ends()  # so many when all have ended

    def count_ends(self):
        # it may have been typed while the one before ended: then its echo stands in the same line
        return sum(self.command.split()[0] + ": " in line for line in self.machine.lines)

    def start(self):
        self.machine.type(self.command + "\n")
        self.ends += 1

    def has_ended(self):
        return self.count_ends() >= self.ends

    def settle(self):
        """Waits until all have ended: an interrupted thread may count an event after tracing was stopped."""
        wait_for(self.has_ended, f"{self.command} ends")

    def until(self, condition, what):
        def is_done():
            if condition():
                return True
            if self.has_ended():
                self.start()
            return False
        self.start()
        wait_for(is_done, what)

    def fill(self, before):
        """Until every processor has discarded events since `before`, which are statistics()."""
        self.until(lambda: all(now["discarded"] > then["discarded"] for now, then in
                               zip(statistics(self.machine)["processors"], before["processors"])), "all rings are full")


def pull_while(script, trace, done, seconds, boot_options="", idle=0, **machine):
    """Boots a guest that runs `script`, pulls until it prints `done`, and IDLE seconds more, and stops the guest. Pull's status and text."""
    log = os.path.join(os.path.dirname(trace), "serial.log")
    options = f"run={script} {boot_options}".strip()
    with boot(log, options=options, **machine) as vm:
        pull = Pull(vm, trace)
        try:
            pull.wait_begun()
            vm.wait_line(done, seconds)
            time.sleep(idle * PACE)
        finally:
            result = pull.finish(60)
        vm.stop()
        return result


def record(trace, script, boot_options="", seconds=200, **machine):
    """The trace of a run that is the same on every host: what the rings hold at the end of a script, in instructions counted. What it printed."""
    ram = trace + ".ram"
    with guest.Guest(log=os.path.join(os.path.dirname(trace), "serial.log"), arch=ARCH, icount=True, network=False, shared=ram,
                     options=f"run={script} exit=1 {boot_options}".strip(), **machine) as vm:
        ended = vm.wait_exit(seconds)
    status, out, err = tarn("pull", f"ram:{ram}", "-o", trace, "-q")
    os.unlink(ram)
    check(status == 0 and ended == 0, "the run produces a trace", f"{ended} {out}{err}")
    return vm.lines


def packets(trace):
    """All of a trace, of one stream after another (struct trace_packet)."""
    for path in sorted(glob.glob(os.path.join(trace, "cpu*"))):
        with open(path, "rb") as file:
            data = file.read()
        order, at = ">" if data[:1] == b"\xc1" and data[1:2] == b"\xfc" else "<", 0
        while at < len(data):
            begin, end, content, size, discarded, number, _, _, cpu, flags = struct.unpack_from(order + "8QII", data, at + 24)
            yield types.SimpleNamespace(cpu=cpu, begin=begin, end=end, content=content // 8, size=size // 8, discarded=discarded, number=number,
                                        flags=flags, data=data[at:at + size // 8])
            at += size // 8


def check_valid(trace, text):
    """That `tarn check` finds no damage. What it says explains a failure."""
    status, out, err = tarn("check", trace)
    check(status == 0, text, out + err)


def check_whole(trace):
    """That nothing is missing behind its begin: a guest in mode flight, for example, gives only the newest quarter of each ring."""
    about = ask("info", trace)
    check(about["lost_events"] + about["lost_packets"] + about["damaged"] == 0, "the trace has no losses", about)
    first = {packet.cpu: packet for packet in reversed(list(packets(trace)))}
    later = [packet for packet in first.values() if packet.number > 0]
    check(first and all(packet.begin == min(packet.begin for packet in first.values()) for packet in later),
          "a CPU whose first packets are missing begins first", later)


def wait_empty(folder):
    """Whether the folder becomes empty; helpers clean up after a killed process."""
    try:
        wait_for(lambda: not os.listdir(folder), f"{folder} is empty")
    except guest.GuestError:
        return False
    return True


def same_streams(*traces):
    streams = [sorted(f for f in os.listdir(trace) if f.startswith("cpu")) for trace in traces]
    return all(s == streams[0] for s in streams) and all(
        filecmp.cmp(os.path.join(traces[0], name), os.path.join(trace, name), shallow=False)
        for trace in traces[1:] for name in streams[0])


def rows_differ(trace, table, keys, rows):
    """Compares a table's rows in a trace with ROWS, which `tarn tables` printed, by keys and times. Returns the differences."""
    def of(row):
        values = [int(row[name], 16) if str(row[name]).startswith("0x") else row[name] for name in columns]
        return str([value % 2**64 if isinstance(value, int) else value for value in values])

    found = json.loads(tarn("sql", "--json", trace, f"SELECT * FROM row_{table}")[1])
    columns = [name for name in found[0] if name in keys or name.endswith("_ns") and name in rows[0]] if found and rows else []
    return sorted(set(map(of, found)) ^ set(map(of, rows)))[:6] or len(found) != len(rows)


def compare_readers(trace):
    """What babeltrace2 and tarn read from a trace, event by event, and the warnings about losses. True and what was compared, or False and the
    differences. babeltrace2 2.0 shows an empty string as whatever the field's memory held before, so where tarn has "" anything passes."""
    losses, wrong, number, excused = [], [], 0, 0
    with tempfile.TemporaryDirectory() as work:
        paths = [os.path.join(work, name) for name in ("babeltrace2", "tarn")]
        for path, *command in ((paths[0], "babeltrace2", "--clock-cycles", "--no-delta", "--names=all"), (paths[1], TARN, "list", "--babeltrace")):
            with open(path, "wb") as file:
                result = subprocess.run([*command, os.path.realpath(trace)], stdout=file, stderr=subprocess.PIPE, text=True, errors="replace",
                                        timeout=600 * PATIENCE, env=os.environ | {"TZ": "UTC"})
            if result.returncode != 0:
                return False, f"{command[0]} failed on {trace}:\n{result.stderr}"
            losses.append({line for line in result.stderr.splitlines() if line.startswith("WARNING: Tracer")})
        with open(paths[0], errors="surrogateescape") as expected, open(paths[1], errors="surrogateescape") as got:
            for number, (theirs, ours) in enumerate(itertools.zip_longest(expected, got, fillvalue="(end)\n"), 1):
                if theirs != ours and re.fullmatch(re.escape(ours).replace(re.escape(' = ""'), r' = "(?:[^"\\]|\\.)*"'), theirs):
                    excused += 1
                elif theirs != ours:
                    wrong.append(f"line {number}:\n  babeltrace2: {theirs}  tarn:        {ours}")
                if len(wrong) == 5:
                    break
    wrong += sorted(losses[0] ^ losses[1])[:10]
    return not wrong, "".join(wrong) or f"{number} events, {len(losses[1])} losses ({excused} empty strings that babeltrace2 misprints)"


def check_alike(trace, what, says=""):
    """That they read the same. says: what the comparison must find."""
    alike, text = compare_readers(trace)
    check(alike and re.search(says, text), what, text)
