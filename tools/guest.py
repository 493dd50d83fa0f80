"""One guest in QEMU: its command line, its serial console, its exit status.

tools/boot (interactive), tests/run, tools/demo and the benchmarks all start guests with this module, so that each machine is
described once. A Guest keeps its serial output in a file and in memory:

    with Guest(smp=4, options="run=/test/ipc exit=1", log="serial.log") as guest:
        guest.wait_line(r"^tarn: ready", seconds=30)
        status = guest.wait_exit(seconds=60)

Seconds are those of the fastest machine on an idle host; MACHINES says how many times longer others take, and a busy host gets
more time (slowdown). A limit ends only what hangs, so it is LENIENCE times as long. For a machine whose clock counts instructions,
seconds are those of the emulator's CPU time, so that other work of the host does not matter. boot/README.md explains how the exit status is read.
"""
import json
import math
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import recipe  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GUEST_PORT = 7777  # where traced listens
DEFAULT_ARCH, DEFAULT_MEMORY = "x86_64", "512M"
COMMAND_LINE_MAX = 511  # bytes that the kernel keeps: arch/include/arch/boot.h
ORPHAN_SECONDS = 4 * 3600  # limit for a guest whose test was killed
ICOUNT_LIBRARY = os.path.join(ROOT, "build/host/icount_order.so")  # tools/emulator/icount_order.c
LENIENCE = 10  # a host may be slower than any that we know, and its load may rise during the wait
CONSOLE_BUFFER = 1 << 20  # bytes; a full pipe would change when a guest can send its next byte

def debug_exit_status(code, lines):
    """isa-debug-exit turns status S into 2S + 3; a reset ends QEMU with 0, an error of its own with 1."""
    return code // 2 - 1 if code > 1 and code % 2 == 1 else None


def announced_status(code, lines):
    """Power-off and reset end QEMU with 0, other statuses and panics with 1, so the kernel's message decides."""
    said = [int(match[1]) for line in lines if (match := re.search(r"shutdown, status (\d+)$", line))]
    return said[-1] if said and code == (said[-1] != 0) else None


# Differences between the machines. board: QEMU's machine for a direct boot, and for one through the firmware. direct: options for
# entering the kernel without firmware. patience: factor for time limits.
# x86_64's BIOS runs before a direct boot, too, and would wait for disks and a keyboard, so such a machine has no ports for them. If
# the clock counts instructions, that was a third of the boot.
MACHINES = {
    "x86_64": {
        "qemu": "qemu-system-x86_64",
        "board": ("q35,sata=off,i8042=off", "q35"),
        "emulated": ["-cpu", "max"],
        "kvm": ["-accel", "kvm", "-cpu", "host"],
        "exit": ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
        "status": debug_exit_status,
        "network": "virtio-net-pci,netdev=n0,disable-legacy=on",
        "direct": [],
        "firmware": "GRUB",
        "byte_order": "le",
        "patience": 1,
    },
    "ppc64": {
        "qemu": "qemu-system-ppc64",
        "board": ("pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off",) * 2,
        "emulated": ["-cpu", "power9"],
        "exit": ["-action", "panic=exit-failure"],
        "status": announced_status,
        "network": "virtio-net-pci,netdev=n0,disable-legacy=on,romfile=",
        "direct": ["-bios", "{build}/boot/stub.bin"],
        "firmware": "SLOF",
        "byte_order": "be",
        "patience": 2,
    },
}


class GuestError(Exception):
    """The guest did not behave as required; the text says how."""


def build_directory(arch):
    return os.path.join(ROOT, "build", arch)


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def slowdown():
    """Returns how many times longer things take because the host is busy."""
    return max(1, math.ceil(os.getloadavg()[0] / (os.cpu_count() or 1)))


def describe(arch):
    """Returns the machine. Its patience includes the host's current load."""
    if arch not in MACHINES:
        raise GuestError(f"no machine for ARCH={arch}; expected {', '.join(MACHINES)}")
    return dict(MACHINES[arch], patience=MACHINES[arch]["patience"] * slowdown())


def processor(arch, kvm):
    machine = describe(arch)
    if not kvm:
        return machine["emulated"]
    if "kvm" not in machine:
        raise GuestError(f"KVM is not available for ARCH={arch}: this machine is always emulated")
    if platform.machine() != arch or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        raise GuestError(f"no KVM here: it needs a host of {arch} and permission to open /dev/kvm")
    return machine["kvm"]


def boot_files(arch, kernel=None, archive=None):
    build = build_directory(arch)
    return kernel or os.path.join(build, "kernel/tarn.elf"), archive or os.path.join(build, "boot.cpio")


def exploring_files(arch):
    """Returns kernel and archive of `tarn explore` (make explorer)."""
    return tuple(os.path.join(build_directory(arch), "explore", name) for name in ("tarn.elf", "boot.cpio"))


def boot_medium(arch, options, firmware, directory, kernel, archive):
    """Returns the options that say what is booted: the kernel directly, or through the firmware. x86_64's needs a boot image
    with GRUB, which is made in `directory`."""
    build = build_directory(arch)
    if firmware and describe(arch)["firmware"] == "GRUB":
        iso = os.path.join(directory, "tarn.iso")
        subprocess.run([os.path.join(ROOT, "tools/mkiso"), iso, *boot_files(arch), options], check=True)
        return ["-cdrom", iso, "-boot", "d"]
    direct = [] if firmware else [word.format(build=build) for word in describe(arch)["direct"]]
    kernel, archive = boot_files(arch, kernel, archive)
    return [*direct, "-kernel", kernel, "-initrd", archive, "-append", options]


def check_repeats(**machine):
    """Raises GuestError if such a machine cannot be deterministic."""
    if found := recipe.unrepeatable(machine):
        raise GuestError(f"a deterministic machine has no {found[0]}: {found[1]}")


def recipe_of(arch=DEFAULT_ARCH, smp=4, memory=DEFAULT_MEMORY, options="", icount=False, seed=1, kernel=None, archive=None,
              **rest):
    """Returns the machine's recipe without its command (recipe.py); None: it is not deterministic."""
    if not icount or recipe.unrepeatable(rest):
        return None
    return recipe.make(describe(arch)["qemu"], *boot_files(arch, kernel, archive), ICOUNT_LIBRARY, arch=arch, seed=seed, processors=smp,
                       memory=str(memory), options=options)


def prepare_memory(shared, **machine):
    """Prepares the file `shared` as a machine's memory: it must be empty, and the recipe is beside it."""
    recipe.forget(shared)
    if made := recipe_of(**machine):
        recipe.write(shared, made, machine_command(None, **machine))


def qemu_command(directory, shared=None, gdb=None, **machine):
    """Returns the command line without consoles. machine: arguments of machine_command.
    shared: file for the guest's memory, for `tarn pull ram:FILE` (prepare_memory); it is kept when the guest has ended.
    gdb: path of a socket for a debugger."""
    command = machine_command(directory, **machine)
    if shared:
        command += ["-object", f"memory-backend-file,id=ram,size={machine.get('memory', DEFAULT_MEMORY)},mem-path={shared},share=on",
                    "-machine", "memory-backend=ram"]
    return command + (["-gdb", f"unix:{gdb},server=on,wait=off"] if gdb else [])


def machine_command(directory, arch=DEFAULT_ARCH, smp=4, memory=DEFAULT_MEMORY, options="", firmware=False, kvm=False, port=None,
                    forwards=(), serial_link=None, rng=False, icount=False, closed_network=None, seed=1, reset="exit",
                    board=None, kernel=None, archive=None, extra=()):
    """Returns the part of the command line that decides how the guest runs. directory: for files that QEMU needs meanwhile.
    board: another machine of QEMU than that of MACHINES, as for -M.
    port: host port that is forwarded to GUEST_PORT; None: no network.
    serial_link: path of the Unix socket that QEMU creates for the trace's serial link; None: no such port.
    rng: add a random number generator, as slow as hardware: 64 KiB per second.
    closed_network: delay in microseconds of frames that the guest sends; the emulator itself replies to them (DHCP, ARP, TFTP
    of the kernel's file). There is no connection to the host, and the machine is deterministic.
    icount: the clock counts instructions, one per nanosecond, and the time of day follows it. Such a machine is deterministic to the
    bit without the features in recipe.UNREPEATABLE: same recipe, same run. The kernel's command line then contains the recipe.
    seed: for the random numbers that such a machine gives to the kernel.
    kernel, archive: files to boot instead of those of the build; not through GRUB.
    reset: "exit": any reset ends QEMU; "boot": the machine boots again.
    forwards: further forwarded ports, as ("tcp" or "udp", host port, guest port)."""
    machine = describe(arch)
    made = recipe_of(arch, smp, memory, options, icount, seed, kernel, archive, firmware=firmware, kvm=kvm, port=port,
                     serial_link=serial_link, rng=rng)
    if icount and not os.path.exists(ICOUNT_LIBRARY):
        raise GuestError(f"{os.path.relpath(ICOUNT_LIBRARY)} is not built: make")
    command = [*(["env", f"LD_PRELOAD={ICOUNT_LIBRARY}"] if icount else []), machine["qemu"],
               "-M", board or machine["board"][firmware], *processor(arch, kvm), "-smp", str(smp), "-m", str(memory),
               "-nodefaults", *({"exit": ["-no-reboot"], "boot": []}[reset]), *machine["exit"]]
    if icount:
        command += ["-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", str(seed)]
    if port:
        ways = [("tcp", port, GUEST_PORT), *forwards]
        command += ["-netdev", "user,id=n0" + "".join(f",hostfwd={p}:127.0.0.1:{h}-:{g}" for p, h, g in ways),
                    "-device", machine["network"]]
    if closed_network is not None:
        # Frames are sent by a timer of the machine's clock, not by a thread of the emulator at any time.
        files = os.path.dirname(boot_files(arch, kernel, archive)[0])
        command += ["-netdev", f"user,id=n0,restrict=on,ipv6=off,tftp={files}",
                    "-device", f"{machine['network']},ioeventfd=off,tx=timer,x-txtimer={1000 * closed_network}"]
    if serial_link:
        command += ["-device", "virtio-serial-pci,disable-legacy=on,max_ports=2", "-chardev",
                    f"socket,id=trace,path={serial_link},server=on,wait=off",
                    "-device", "virtserialport,chardev=trace,nr=1,name=tarn.trace"]
    if rng:
        command += ["-object", "rng-builtin,id=rng",
                    "-device", "virtio-rng-pci,disable-legacy=on,rng=rng,max-bytes=65536,period=1000"]
    line = f"{options} {recipe.boot_option(made)}".strip() if made else options
    if len(line) > COMMAND_LINE_MAX:
        raise GuestError(f"the kernel command line has {len(line)} bytes, but the kernel keeps only {COMMAND_LINE_MAX}: {line}")
    return [*command, *boot_medium(arch, line, firmware, directory, kernel, archive), *extra]


def child_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            words = file.read().split()
    except OSError:
        return None
    return int(words[0]) if words else None


def processor_seconds(pid):
    """0: the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            words = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Process(subprocess.Popen):
    """Gets SIGTERM when the thread that starts it ends. After its end, has the CPU time of the process and of the children that it
    waited for."""

    processor_seconds = 0

    def __init__(self, command, **rest):
        super().__init__(["setpriv", "--pdeathsig", "TERM", *command], **rest)

    def _try_wait(self, wait_flags):
        try:
            pid, status, usage = os.wait4(self.pid, wait_flags)
        except ChildProcessError:  # as Popen does
            return self.pid, 0
        if pid:
            self.processor_seconds = usage.ru_utime + usage.ru_stime
        return pid, status


class Guest:
    """forwards: ports of the guest, as ("tcp" or "udp", port); `forwarded` has the host's ports for them.
    serial_link: whether it has the trace's serial port, on the Unix socket `serial_path`.
    gdb: whether a debugger can connect to the Unix socket `gdb_path`.
    machine: smp, memory, firmware, icount, reset, shared and other arguments of qemu_command."""

    def __init__(self, log, options="", network=True, forwards=(), serial_link=False, gdb=False, arch=DEFAULT_ARCH, **machine):
        self.log_path, self.options, self.network = log, options, network
        self.forwards, self.forwarded = forwards, {}
        self.serial_link, self.serial_path = serial_link, None
        self.has_gdb, self.gdb_path = gdb, None
        self.arch, self.machine, self.patience = arch, machine, describe(arch)["patience"]
        self.directory = self.process = self.port = self.code = None
        self.lines, self.changed = [], threading.Condition()

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="tarn-guest-")
        try:
            if self.serial_link:
                self.serial_path = os.path.join(self.directory, "trace")
            if self.has_gdb:
                self.gdb_path = os.path.join(self.directory, "gdb")
            for _ in range(5):  # a free port may be taken before QEMU binds it
                self.port = free_port() if self.network else None
                self.forwarded = {way: free_port(socket.SOCK_DGRAM if way[0] == "udp" else socket.SOCK_STREAM)
                                  for way in self.forwards}
                if self._launch():
                    return self
            raise GuestError("QEMU found no free port in 5 attempts")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            self.reader.join(5)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _launch(self):
        monitor = os.path.join(self.directory, "qmp")
        errors = os.path.join(self.directory, "stderr")
        machine = dict(self.machine, arch=self.arch, options=self.options, port=self.port, serial_link=self.serial_path,
                       forwards=[(p, host, g) for (p, g), host in self.forwarded.items()])
        shared = machine.pop("shared", None)
        if shared:
            prepare_memory(shared, **machine)
        command = qemu_command(self.directory, shared, self.gdb_path, **machine)
        command += ["-display", "none", "-serial", "stdio", "-qmp", f"unix:{monitor},server=on,wait=off"]
        with open(errors, "wb") as error_file:
            self.process = Process(["timeout", "--kill-after=5", str(ORPHAN_SECONDS), *command], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=error_file,
                                   pipesize=CONSOLE_BUFFER if machine.get("icount") else -1)
        self.started = time.monotonic()
        self.reader = threading.Thread(target=self._read_serial, daemon=True)
        self.reader.start()
        while self.process.poll() is None and not os.path.exists(monitor):
            time.sleep(0.01)
        self.monitor_path = monitor
        self.errors_path = errors
        time.sleep(0.1)
        if self.process.poll() is not None and "host forwarding" in self.complaint():
            return False
        return True

    @property
    def link(self):
        """Where `tarn` finds the guest's trace server."""
        return f"tcp:127.0.0.1:{self.port}"

    def complaint(self):
        """Returns what QEMU itself printed."""
        with open(self.errors_path, errors="replace") as error_file:
            return error_file.read().strip()

    def _read_serial(self):
        with open(self.log_path, "wb", buffering=0) as log:
            rest = b""
            while chunk := os.read(self.process.stdout.fileno(), 65536):
                log.write(chunk)
                *complete, rest = (rest + chunk).split(b"\n")
                with self.changed:
                    self.lines += [line.decode(errors="replace").rstrip("\r") for line in complete]
                    self.changed.notify_all()
            with self.changed:
                if rest:
                    self.lines.append(rest.decode(errors="replace").rstrip("\r"))
                self.changed.notify_all()

    def spent(self):
        """Returns the time to which limits apply: that of the host's clock, or the emulator's CPU time."""
        return self.processor_seconds() if self.machine.get("icount") else time.monotonic()

    def is_late(self, begun, seconds):
        """Whether much more than `seconds` have passed since spent() was `begun`, corrected by the host's current load."""
        return self.spent() - begun > seconds * LENIENCE * describe(self.arch)["patience"]

    def processor_seconds(self):
        """CPU time that the emulator has used."""
        return processor_seconds(child_of(self.process.pid))

    def wait_line(self, pattern, seconds, start=0, processor_max=math.inf):
        """Waits for a matching serial line; returns its index and the match. processor_max: as for wait_exit."""
        begun, regex = self.spent(), re.compile(pattern)
        at = start
        with self.changed:
            while True:
                while at < len(self.lines):
                    if match := regex.search(self.lines[at]):
                        return at, match
                    at += 1
                if not self.reader.is_alive():
                    raise GuestError(f"the guest ended before it printed /{pattern}/\n{self.tail()}")
                if self.is_late(begun, seconds) or self.processor_seconds() > processor_max:
                    raise GuestError(f"no line /{pattern}/ within at least {seconds} s\n{self.tail()}")
                self.changed.wait(0.5)

    def type(self, text):
        """Types on the serial console."""
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def wait_exit(self, seconds, processor_max=math.inf):
        """Returns the guest's status. Raises GuestError if it hangs (after requesting a dump), resets or crashes.
        processor_max: CPU seconds of the emulator; a guest that runs in circles on a busy host needs no patience."""
        begun = self.spent()
        while (code := self.wait_process(0.5)) is None:
            worked = self.processor_seconds()
            if self.is_late(begun, seconds) or worked > processor_max:
                self.dump_hung()
                raise GuestError(f"hung: not finished after at least {seconds} s, {worked:.0f} s of CPU time\n{self.tail()}")
        self.code = code
        self.reader.join(5)
        status = describe(self.arch)["status"](self.code, self.lines)
        if status is None and self.code == 1 and not self.lines:
            raise GuestError("QEMU failed: " + self.complaint())
        if status is None:
            what = {0: "the machine was reset", 1: "the kernel panicked", 124: "QEMU ran into its time limit"}
            raise GuestError(f"{what.get(self.code, f'QEMU ended with code {self.code}')}\n{self.tail()}")
        return status

    def wait_process(self, seconds):
        """Returns QEMU's exit status; None: it still runs."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def dump_hung(self):
        """Sends an NMI to a hung guest: its kernel reports where each CPU is, and the last events."""
        try:
            self.command("inject-nmi")
            self.process.wait(10)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            pass

    def command(self, name, **arguments):
        """Executes a QMP command, and returns its result."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(60 * slowdown())  # a dump of much memory takes long
            monitor.connect(self.monitor_path)
            stream = monitor.makefile("rw")
            for request in {"execute": "qmp_capabilities"}, {"execute": name, "arguments": arguments}:
                stream.write(json.dumps(request | {"id": request["execute"]}) + "\n")
                stream.flush()
                # events may come at any time, also before the greeting
                while (line := stream.readline()) and (reply := json.loads(line)).get("id") != request["execute"]:
                    pass
                if not line:
                    raise ConnectionError(f"QMP {name}: the emulator closed the connection")
            if "error" in reply:
                raise GuestError(f"QMP {name}: {reply['error'].get('desc')}")
            return reply.get("return")

    def dump_memory(self, path):
        """Writes an ELF core of the machine's current memory."""
        self.command("dump-guest-memory", paging=False, protocol=f"file:{os.path.abspath(path)}")

    def stop(self):
        """Switches the machine off."""
        try:
            self.command("quit")
            self.process.wait(10)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.process.terminate()
        self.reader.join(5)

    def tail(self, count=40):
        with self.changed:
            text = "\n".join("    | " + line for line in self.lines[-count:])
        return f"  last lines of the serial console ({self.log_path}):\n{text}" if text else "  the serial console is empty"
