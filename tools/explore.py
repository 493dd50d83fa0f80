#!/usr/bin/env python3
"""`tarn explore`: runs a workload under many seeds, each of which makes CPUs meet in another order, and reports what broke.

    build/host/tarn explore --seeds 1..50 all
    build/host/tarn explore --arch ppc64 --kinds turns,kills --jobs 2 /test/kernel_kill

tools/tarn/command/explore.c declares the options, docs/man/explore.md describes findings. Each run is a boot of the exploring
kernel and its programs (make explorer; kernel/cpu/explore.h) on a deterministic machine.
"""
import argparse
import bisect
import collections
import concurrent.futures
import glob
import importlib.machinery
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coverage  # noqa: E402
import guest  # noqa: E402
from fewest import fewest, ranges  # noqa: E402

mkarchive = importlib.machinery.SourceFileLoader("mkarchive", os.path.join(guest.ROOT, "tools/mkarchive")).load_module()
TARN = os.path.join(guest.ROOT, "build/host/tarn")
KINDS = ["turns", "timers", "places", "interrupts", "allocations", "kills", "control", "memory"]
KINDS_OF_ALL = "turns,timers,places,interrupts,control,memory"  # the workload
WORKLOADS = ["/test/explore_meet", "/test/explore_kill", "/test/explore_lock", "/test/kernel_ipc", "/test/kernel_futex",
             "/test/kernel_pager", "/test/explore_servers"]
NETWORKED = {"/test/explore_net", "/test/explore_pull", "control"}  # workloads, and a kind: it pulls
NEEDED = {"console", "fs", "proc"}  # servers (servers/README.md, When a server dies)
AGAIN = "/test/explore_again"  # starts another workload again and again
SCRIPT = "/etc/explore.rc"  # in the guest: a script of the user's, or a workload with arguments
DISTURBING = {"allocations", "kills"}  # these may make the workload's checks fail, so failed checks are not findings
CPU_SECONDS_MAX = 120  # of the emulator, for a guest that no longer takes timer interrupts
# Normal differences between runs: caches of servers and of slabs; heaps of servers, and shared buffers not yet unmapped.
SLACK = {"frames": 512, "mappings": 32}
PROGRAM_BYTES = 16 + 32768  # of an entry of explore_programs: kernel/explore/explore.c
KEPT_MAX, KEPT_TEXT_MAX = 64, 250  # limits of the kernel: ranges, and bytes of its command line


class Abandoned(Exception):
    """The run was cancelled, because another one has found something."""


class Run:
    """One boot, and its findings: (kind, text) pairs. kept: the numbers of its only perturbations; None: all."""

    def __init__(self, explorer, seed, kept=None):
        self.explorer, self.seed, self.kept = explorer, seed, kept
        self.workload = WORKLOADS[seed % len(WORKLOADS)] if explorer.workload == "all" else explorer.workload
        name = f"{seed}" if kept is None else f"{seed}-{len(kept)}-{zlib.crc32(ranges(kept).encode()):x}"
        self.directory = os.path.join(explorer.out, f"seed-{name}")
        self.lines, self.findings, self.perturbations, self.left, self.told = [], [], 0, {}, "the run was cut short"

    def option(self):
        words = [str(self.seed), f"limit={self.explorer.choice.limit}"]
        words += ["stop"] if self.explorer.choice.first else []
        words += [f"keep={ranges(self.kept)}"] if self.kept is not None else []
        return "explore=" + ",".join(words + self.explorer.kinds)

    def path(self, name):
        return os.path.join(self.directory, name)

    def machine(self):
        choice = self.explorer.choice
        start = f"run={AGAIN} again={self.workload}" if self.explorer.is_started else f"run={self.workload}"
        return {"arch": choice.arch, "options": f"{start} exit=1 {self.option()} {choice.options}".strip(),
                "smp": choice.smp, "memory": choice.memory, "icount": True, "kernel": choice.kernel, "archive": self.explorer.archive,
                "shared": self.path("memory"), "closed_network": self.network()}

    def network(self):
        """Delay of packets in microseconds; None: no network."""
        return 4 << self.seed % 8 if NETWORKED & {self.workload, self.explorer.choice.workload, *self.explorer.kinds} or self.explorer.choice.network else None

    def execute(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        status, end = None, None
        with guest.Guest(log=self.path("serial.log"), network=False, **self.machine()) as vm:
            if self.wait(vm):
                try:
                    status = vm.wait_exit(30)
                except guest.GuestError as error:
                    end = str(error).splitlines()[0]
            else:
                end = "stuck"
            self.lines = list(vm.lines)
        self.judge(status, end)
        return self

    def wait(self, vm):
        """Waits until the emulator has ended. False: it has used too much CPU time, whatever else the host does."""
        while vm.process.poll() is None:
            if self.explorer.is_over:
                vm.process.terminate()
                raise Abandoned
            if vm.spent() > CPU_SECONDS_MAX:
                return False
            time.sleep(0.1)
        return True

    def judge(self, status, end):
        for line in self.lines:
            if found := told(line, self.explorer.programs):
                self.find(*found)
            elif match := re.match(r"explore: end: \d+ points, (.*); \d+ ms", line):
                self.told = match[1]
            elif line.startswith("explore: left: "):
                self.left = {name: int(number) for number, name in re.findall(r"(\d+) (\w+)", line)}
        panics = [line for line in self.lines if line.startswith("PANIC ")]
        ended = any(line.startswith("shutdown, status ") for line in self.lines)
        if end == "stuck":
            self.find("hang", f"executes without taking timer interrupts, for {CPU_SECONDS_MAX} s of CPU time")
        elif panics and "explore: stop: " not in panics[0]:
            self.find("hang" if "explore: hang" in panics[0] else "panic", panics[0])
        elif not panics and not self.explorer.is_disturbing:
            self.judge_checks(status, end)
        elif not panics and not ended:
            self.find("panic", end)
        elif not panics:
            self.judge_killed()
        if ended and "shutdown, status 3" not in self.lines:
            self.judge_left()
        self.check_trace()

    def judge_killed(self):
        """Checks that killed programs are gone, and that init has reported each server, or has ended the machine for lack of one."""
        killed = re.findall(r"^explore: ends server (\w+) \(pid (\d+)\)", "\n".join(self.lines), re.M)
        is_needed, has_ended = any(name in NEEDED for name, _ in killed), "shutdown, status 3" in self.lines
        if "Bail out! programs are left" in self.lines:
            self.find("hang", "programs that were killed are left")
        if is_needed != has_ended:
            self.find("check", f"the machine {'continues without a server that it needs' if is_needed else 'ends although it has all servers that it needs'}")
        for name, pid in killed:
            if not has_ended and not any(f"/{name} (pid {pid}) died" in line for line in self.lines):
                self.find("check", f"the death of server {name} was not noticed")

    def judge_checks(self, status, end):
        failed = [line for line in self.lines if line.startswith(("not ok", "Bail out!")) and "# TODO" not in line]
        planned = sum(int(match[1]) for line in self.lines if (match := re.match(r"1\.\.(\d+)", line)))
        seen = sum(bool(re.match(r"(not )?ok\b", line)) for line in self.lines)
        for line in failed:
            self.find("check", line)
        if not failed and status != 0:
            self.find("check", end or f"ended with status {status}")
        elif not failed and planned != seen:
            self.find("check", f"{seen} checks instead of {planned}")

    def judge_left(self):
        for name, usual in self.explorer.usual.get(self.workload, {}).items():
            more = self.left.get(name, 0) - usual
            may_grow = name == "frames" and "control" in self.explorer.kinds  # rings that have grown keep their memory
            if more > SLACK.get(name, 0) and not may_grow:
                self.find("leak", f"{more} more {name} are left than usual")

    def check_trace(self):
        """Pulls and checks the run's trace. Trace and recipe are kept for `tarn goto` if there are findings."""
        memory, trace = self.path("memory"), self.path("trace")
        if self.explorer.choice.check or self.findings:
            pulled = subprocess.run([TARN, "pull", f"ram:{memory}", "-o", trace, "-q", "--force"], capture_output=True, text=True)
            checked = subprocess.run([TARN, "check", trace], capture_output=True, text=True)
            if pulled.returncode == 2 or checked.returncode == 2:
                self.find("damage", (pulled.stderr + checked.stderr).strip().splitlines()[-1])
            elif checked.returncode and not any(kind in ("panic", "hang") for kind, _ in self.findings):
                self.find("damage", checked.stdout.strip().splitlines()[0])
        self.perturbations = self.explorer.coverage.add(memory, trace)
        os.unlink(memory)
        if not self.findings:
            shutil.rmtree(self.directory)

    def find(self, kind, text):
        self.findings.append((kind, text))

    def goto(self):
        """The command that goes to the last event."""
        trace = os.path.relpath(self.path("trace"))
        listed = subprocess.run([TARN, "list", "--numbers", "--tail", "20", trace], capture_output=True, text=True).stdout
        numbers = [int(match[1]) for line in listed.splitlines()
                   if (match := re.match(r" *(\d+) \[", line)) and " trace_end:" not in line]
        return f"build/host/tarn goto {trace} {numbers[-1]}" if numbers else "(the run left no trace)"


def cross(arch):
    """Prefix of the binutils for an architecture."""
    return "powerpc64-linux-gnu-" if arch == "ppc64" else ""


def list_symbols(arch, path):
    """Returns (address, type, name) of an ELF file's symbols, by address."""
    listed = subprocess.run([cross(arch) + "nm", "-n", path], capture_output=True, text=True).stdout
    return [(int(words[0], 16), *words[1:]) for words in map(str.split, listed.splitlines()) if len(words) == 3]


def entries(archive):
    """Yields (name, offset, contents) of the newc archive's files."""
    with open(archive, "rb") as file:
        data = file.read()
    at = 0
    while data[at:at + 6] == b"070701":
        size, length = (int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in (6, 11))
        begin = (at + 110 + length + 3) & ~3
        yield data[at + 110:at + 109 + length].decode(), at, data[begin:begin + size]
        at = (begin + size + 3) & ~3


def add_script(archive, text, directory):
    """Returns an archive with a script in addition, which stays in the directory, because a recipe names it."""
    end = next(at for name, at, _ in entries(archive) if name == "TRAILER!!!")
    with open(archive, "rb") as file:
        data = file.read()
    data = data[:end] + mkarchive.entry(end, SCRIPT[1:], 0o100755, text.encode()) + data[end:]
    path = os.path.join(directory, f"archive-{zlib.crc32(data):x}.cpio")
    if not os.path.exists(path):
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)
    return path


class Programs:
    """The programs of the boot archive, for their symbols: translates PROGRAM:0xADDRESS."""

    def __init__(self, archive, arch):
        self.archive, self.arch = archive, arch
        self.lock, self.symbols = threading.Lock(), {}  # by program: (addresses, names)

    def read(self, program):
        """Returns the file with that name from the archive."""
        return next((data for name, _, data in entries(self.archive) if os.path.basename(name) == program), b"")

    def load(self, program):
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.read(program))
            file.flush()
            found = [symbol for symbol in list_symbols(self.arch, file.name) if symbol[1] not in "aA"]
        return [symbol[0] for symbol in found], [symbol[2] for symbol in found]

    def name(self, program, address):
        with self.lock:
            if program not in self.symbols:
                self.symbols[program] = self.load(program)
        addresses, names = self.symbols[program]
        at = bisect.bisect_right(addresses, address) - 1
        if at < 0 or at == len(names) - 1 and address > addresses[-1]:  # after the executable: stacks and heap
            return f"{program}'s memory 0x{address:x}"
        return f"{program}'s {names[at]}+0x{address - addresses[at]:x}"

    def explain(self, text):
        return re.sub(r"(\w+):0x([0-9a-f]+)", lambda match: self.name(match[1], int(match[2], 16)), text)


def told(line, programs):
    """Returns a finding that the kernel reports on the console, as (kind, text), or None."""
    match = re.match(r"explore: (race|lock order|idle|code): (.*)", line)
    return (match[1].replace("lock ", ""), programs.explain(match[2])) if match else None


def signature(kind, text):
    """Findings that differ only in numbers and offsets have the same signature."""
    text = re.sub(r"\+0x[0-9a-f]+", "", text)
    return kind, re.sub(r"0x[0-9a-f]+|\d+", "N", text)


class Coverage:
    """What all runs have executed: basic blocks of the kernel and of programs, lock orders, and pairs of consecutive trace points on
    two CPUs."""

    def __init__(self, arch, kernel, archive):
        self.arch, self.kernel, self.lock = arch, kernel, threading.Lock()
        self.folder = os.path.join(os.path.dirname(archive), "user")  # programs with lines
        self.places, self.orders, self.pairs, self.traces, self.programs = set(), set(), set(), 0, {}
        with open(kernel, "rb") as file:
            is_known = file.read(4) == b"\x7fELF"
        if is_known:
            self.symbols = {name: address for address, _, name in list_symbols(arch, kernel)}
            self.blocks = coverage.read_blocks(cross(arch) + "objdump", kernel)
            self.offset = load_offset(cross(arch) + "readelf", kernel, 0x400000 if arch == "ppc64" else 0)

    def read(self, file, name, size):
        file.seek(self.symbols[name] - self.offset)
        return file.read(size)

    def add(self, memory, trace):
        """Returns the number of perturbations of the run."""
        with open(memory, "rb") as file:
            performed = int.from_bytes(self.read(file, "explore_performed", 8), "big" if self.arch == "ppc64" else "little")
            covered = self.read(file, "explore_covered", 2 << 20)
            orders = self.read(file, "explore_orders", 64 * 64)
            programs = self.read(file, "explore_programs", 128 * PROGRAM_BYTES)
        places = {match.start() for match in re.finditer(b"\x01", covered)}
        pairs = adjacent(trace) if os.path.isdir(trace) else set()
        with self.lock:
            self.places |= places
            self.orders |= {i for i, byte in enumerate(orders) if byte}
            self.pairs |= pairs
            self.traces += os.path.isdir(trace)
            for at in range(0, len(programs), PROGRAM_BYTES):
                if name := programs[at:at + 16].rstrip(b"\0").decode(errors="replace"):
                    self.programs[name] = self.programs.get(name, 0) | int.from_bytes(programs[at + 16:at + PROGRAM_BYTES], "little")
        return performed

    def lines(self):
        """Returns the source lines that were, and were not, reached."""
        found, start = coverage.Lines(), self.symbols["kernel_start"]
        found.add(self.blocks, lambda place: place - start in self.places)
        for name, bits in self.programs.items():
            for path in glob.glob(os.path.join(glob.escape(self.folder), f"{name}{'*' * (len(name) > 14)}")) or \
                    glob.glob(os.path.join(glob.escape(self.folder), f"test_{name}{'*' * (len(name) > 14)}")):
                covered = bits.to_bytes(PROGRAM_BYTES - 16, "little")
                blocks = coverage.read_blocks(cross(self.arch) + "objdump", path)
                found.add(blocks, lambda place, covered=covered: covered[place // 32 % len(covered)] >> place // 4 % 8 & 1)
        return found

    def tell(self):
        both = sum((b, a) in self.pairs for a, b in self.pairs)
        pairs = (f"{len(self.pairs)} pairs of consecutive trace points on two CPUs, {both} of them in both orders, in "
                 f"{self.traces} traces" if self.traces else "no trace was read for pairs of trace points")
        return (f"covered: {len(self.places)} of {len(self.blocks)} basic blocks of the kernel; {len(self.orders)} lock orders (one class "
                f"held, another acquired); {pairs}")


def load_offset(readelf, kernel, loaded_at):
    """Returns the difference between the address of a data symbol and its offset in memory."""
    for line in subprocess.run([readelf, "-lW", kernel], capture_output=True, text=True).stdout.splitlines():
        if (words := line.split()) and words[0] == "LOAD" and "W" in "".join(words[6:-1]):
            return int(words[2], 16) - int(words[3], 16) - loaded_at
    raise guest.GuestError(f"{kernel} has no data")


ADJACENT = """SELECT DISTINCT before, name FROM (SELECT name, cpu_id, lag(name) OVER () AS before, lag(cpu_id) OVER () AS cpu FROM event)
              WHERE cpu <> cpu_id"""


def adjacent(trace):
    """Returns pairs of consecutive events on two CPUs."""
    listed = subprocess.run([TARN, "sql", "--csv", trace, ADJACENT], capture_output=True, text=True).stdout
    return {tuple(line.split(",")) for line in listed.splitlines()[1:]}


class Explorer:
    def __init__(self, choice):
        self.choice = choice
        self.kinds = choice.kinds.split(",") if choice.kinds else []
        self.is_disturbing = bool(DISTURBING & set(self.kinds))
        self.is_started = self.is_disturbing or "control" in self.kinds  # by AGAIN
        self.out = os.path.abspath(choice.out)
        self.usual, self.is_over = {}, False
        kernel, archive = guest.exploring_files(choice.arch)
        choice.kernel = choice.kernel or kernel
        if not os.path.exists(choice.kernel):
            raise guest.GuestError(f"{os.path.relpath(choice.kernel)} does not exist: run `make explorer ARCH={choice.arch}` first")
        os.makedirs(self.out, exist_ok=True)
        self.archive = choice.archive or archive
        self.workload = self.find_workload()
        self.programs = Programs(self.archive, choice.arch)
        self.coverage = Coverage(choice.arch, choice.kernel, choice.archive or archive)

    def find_workload(self):
        """Returns the path of what the guest runs, or all."""
        choice = self.choice
        if choice.script:
            with open(choice.script, encoding="utf-8") as file:
                text = file.read()
        elif choice.workload != "all" and f"/{choice.workload}".lstrip("/") not in (name for name, _, _ in entries(self.archive)):
            raise guest.GuestError(f"the guest has no program {choice.workload}; WORKLOAD is a path in its boot archive, as "
                                   "/test/explore_meet, or `all`")
        elif not choice.arguments:
            return choice.workload
        else:
            text = shlex.join([choice.workload, *choice.arguments]) + "\n"
        self.archive = add_script(self.archive, text, self.out)
        return SCRIPT

    def find_usual(self):
        """Finds what each workload leaves without perturbations."""
        seeds = {Run(self, seed).workload: seed for seed in reversed(self.choice.seeds)}
        for workload, seed in seeds.items():
            run = Run(self, seed, []).execute()
            if run.findings:
                raise guest.GuestError(f"{workload} has findings without perturbations: " + "; ".join(text for _, text in run.findings))
            self.usual[workload] = run.left

    def explore(self):
        if self.choice.leaks:
            self.find_usual()
        found = collections.OrderedDict()  # signature: [run, text, count]
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.choice.jobs) as pool:
            waiting = [pool.submit(Run(self, seed).execute) for seed in self.choice.seeds]
            for done in concurrent.futures.as_completed(waiting):
                if done.cancelled() or isinstance(done.exception(), Abandoned):
                    continue
                self.tell(done.result(), found)
                if found and self.choice.first:
                    self.is_over = True
                    for other in waiting:
                        other.cancel()
        print(f"{sum(not w.cancelled() and not w.exception() for w in waiting)} seeds, {len(found)} findings, {time.monotonic() - begin:.0f} s")
        print(self.coverage.tell())
        self.tell_lines()
        return 1 if found else 0

    def tell_lines(self):
        choice = self.choice
        if not (choice.coverage or choice.coverage_file or choice.changed):
            return
        lines = self.coverage.lines()
        if choice.coverage_file:
            lines.read(choice.coverage_file)
            lines.write(choice.coverage_file)
        for line in [*(lines.report() if choice.coverage else ()), *(lines.report_changed(choice.changed) if choice.changed else ())]:
            print(line)

    def tell(self, run, found):
        for kind, text in run.findings:
            key = signature(kind, text)
            if key in found:
                found[key][2] += 1
                continue
            found[key] = [run, text, 1]
            print(f"FOUND seed {run.seed}: {kind}: {text}\n  again: {again(self.choice, run)}\n  there: {run.goto()}", flush=True)
            if self.choice.shrink and kind != "leak":
                small, is_least = self.shrink(run, key)
                said = "none of them can be left out" if is_least else f"after {self.choice.tries} runs; perhaps not all are needed"
                print(f"  fewer: {small.option()}: {said}\n         {small.goto()}", flush=True)
        if not run.findings and self.choice.verbose:
            print(f"seed {run.seed}: {run.workload}: nothing; {run.told}", flush=True)

    def shrink(self, run, key):
        """Returns a run with few perturbations and the same finding, and whether none of them can be left out."""
        best = run

        def happens(numbers):
            nonlocal best
            text = ranges(numbers)
            if text.count("+") >= KEPT_MAX or len(text) > KEPT_TEXT_MAX:
                return False
            tried = Run(self, run.seed, numbers).execute()
            is_same = key in {signature(*finding) for finding in tried.findings}
            useless = best if is_same else tried
            if useless is not run:
                shutil.rmtree(useless.directory, ignore_errors=True)
            best = tried if is_same else best
            return is_same

        _, is_least = fewest(run.perturbations, happens, self.choice.tries)
        return best, is_least


def again(choice, run):
    words = [os.path.relpath(TARN), "explore", "--seeds", str(run.seed)]
    for name in "arch", "smp", "memory", "kinds", "limit", "options":
        if (value := getattr(choice, name)) != PARSER.get_default(name):
            words += [f"--{name}", str(value)]
    words += [f"--{name}" for name in ("network", "first") if getattr(choice, name)]
    words += [f"--no-{name}" for name in ("check", "leaks") if not getattr(choice, name)]
    for name, usual in zip(("kernel", "archive", "script"), (*guest.exploring_files(choice.arch), "")):
        if (path := getattr(choice, name) or usual) != usual:
            words += [f"--{name}", os.path.relpath(path)]
    if not choice.script:
        words += [run.workload] if choice.workload == "all" else [*(["--"] if choice.arguments else []), choice.workload, *choice.arguments]
    return shlex.join(words)


def seed_range(text):
    match = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text)
    if not match:
        raise argparse.ArgumentTypeError("A..B or A")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"tarn explore: {message}", file=sys.stderr)
        sys.exit(2)


def make_parser():
    parser = Parser(prog="tarn explore", add_help=False)
    for name, value in (("kinds", ""), ("memory", "256M"), ("options", ""), ("out", os.path.join(guest.ROOT, "out/explore")),
                        ("kernel", None), ("archive", None), ("script", None), ("coverage-file", None), ("changed", None)):
        parser.add_argument(f"--{name}", default=value)
    for name, value in ("smp", 4), ("limit", 20000), ("jobs", 2), ("tries", 120):
        parser.add_argument(f"--{name}", type=positive, default=value)
    for name in "network", "shrink", "first", "verbose", "coverage":
        parser.add_argument(f"--{name}", action="store_true")
    for name in "check", "leaks":
        parser.add_argument(f"--no-{name}", dest=name, action="store_false")
    parser.add_argument("--arch", default=guest.DEFAULT_ARCH, choices=guest.MACHINES)
    parser.add_argument("--seeds", type=seed_range, default=seed_range("1..20"))
    parser.add_argument("workload", nargs="?")
    parser.add_argument("arguments", nargs="*")
    return parser


PARSER = make_parser()


def main():
    choice = PARSER.parse_args()
    choice.kinds = choice.kinds or (KINDS_OF_ALL if choice.workload == "all" else "")
    unknown = set(filter(None, choice.kinds.split(","))) - set(KINDS)
    if unknown:
        PARSER.error(f"unknown kind: {', '.join(unknown)}; expected {', '.join(KINDS)}")
    try:
        return Explorer(choice).explore()
    except (guest.GuestError, OSError, ValueError) as error:
        print(f"tarn explore: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
