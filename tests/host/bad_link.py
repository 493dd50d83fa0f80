# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the tests of bad links: a proxy that damages the data, pulls through it, and the checks of the trace after such
a pull: losses counted from the packets' headers must be those that pull, check and babeltrace2 report.
"""
import contextlib
import glob
import itertools
import os
import random
import re
import select
import socket
import struct
import threading
import time

import end_to_end as e2e

HEADER = {b"\xc1\x1f\xfc\xc1": struct.Struct("<II16sQQQQQQQQII"),  # struct trace_packet in either byte order,
          b"\xc1\xfc\x1f\xc1": struct.Struct(">II16sQQQQQQQQII")}  # by how its magic number reads
HEADER_BYTES = 96
SUMMARY = re.compile(r"lost: (\d+) packets missing, (\d+) refused, (\d+) cut; (\d+) events discarded in the guest(?:, \d+ before this trace)?"
                     r"(?:, (?:at least )?(\d+) cut off packets)?(?:; the link broke (\d+) times)?")


class Proxy:
    """Passes bytes to the guest and back; `source` leads to it. `spoil(proxy, data, to_host)` may change the bytes,
    and ends the connection by returning None. path: of the unix socket to stand there, before the guest's serial
    port; None: a TCP port, before its network link. trace: where the pull through it stores what comes."""

    def __init__(self, machine, spoil, path=None, trace=None):
        self.machine, self.spoil, self.path, self.trace = machine, spoil, path, trace
        self.passed, self.connections, self.closed_until, self.stalled = 0, 0, 0, False
        self.spoilt_at = self.spoilt_in = 0  # of `passed` and `connections`, when at_places did last
        if path:
            self.listener = socket.create_server(path, family=socket.AF_UNIX)
            self.source = f"serial:{path}"
        else:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.source = f"tcp:127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def connect(self):
        if not self.path:
            return socket.create_connection(("127.0.0.1", self.machine.port), 10)
        link = socket.socket(socket.AF_UNIX)
        link.connect(self.machine.serial_path)
        return link

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                host, _ = self.listener.accept()
                if time.monotonic() < self.closed_until:
                    host.close()
                    continue
                self.connections += 1
                self.stored_before = self.stored()
                with host, self.connect() as link:
                    with contextlib.suppress(OSError):
                        self.carry(host, link)

    def carry(self, host, link):
        while True:
            for side in select.select([host, link], [], [], 60)[0]:
                while self.stalled:
                    time.sleep(0.05)
                data = side.recv(1 << 16)
                data = self.spoil(self, data, side is link) if data else None
                if data is None:
                    return
                (host if side is link else link).sendall(data)
                self.passed += len(data) if side is link else 0

    def stored(self):
        return sum(map(os.path.getsize, glob.glob(os.path.join(self.trace, "cpu*")))) if self.trace else 0

    def serves_pull(self):
        """Whether a pull has stored something that came by this connection. Unknown without a trace."""
        return not self.trace or self.stored() > self.stored_before

    def close(self):
        self.stalled = False
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if self.path:
            os.unlink(self.path)


def at_places(places, what):
    """Applies `what` when so many bytes have gone to the host and a pull is under way. While it asks to resume, old bytes
    pass too, and a link that breaks then has broken once, not twice."""
    def spoil(proxy, data, to_host):
        if to_host and places and proxy.passed + len(data) >= places[0] and proxy.serves_pull():
            places.pop(0)
            proxy.spoilt_at, proxy.spoilt_in = proxy.passed, proxy.connections
            return what(proxy, data)
        return data
    return spoil


def cut(proxy, data):
    return None


def flip(proxy, data):
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]


def behind(places, more=300000):
    """Enough: all places are behind, also for the pull, which has resumed, and the link stands again for as many bytes."""
    return lambda proxy: (not places and proxy.connections > proxy.spoilt_in and proxy.passed > proxy.spoilt_at + more
                          and proxy.serves_pull())


def places(count):
    return list(itertools.accumulate(random.randrange(150000, 500000) for _ in range(count)))


def count_losses(trace):
    """Packets missing, packets cut and events discarded, by the headers alone; None if a stream is no such thing."""
    missing = cut_packets = discarded = packets = 0
    for path in glob.glob(os.path.join(trace, "cpu*")):
        last = None
        with open(path, "rb") as stream:
            while header := stream.read(HEADER_BYTES):
                if header[:4] not in HEADER or len(header) < HEADER_BYTES:
                    return None
                fields = HEADER[header[:4]].unpack(header)
                size, number, lost = fields[6] // 8, fields[8], fields[7]
                if last and number <= last[0]:
                    return None
                missing += number - last[0] - 1 if last else 0
                discarded += lost - last[1] if last else 0
                cut_packets += fields[12] & 1
                packets += 1
                last = number, lost
                stream.seek(size - HEADER_BYTES, os.SEEK_CUR)
        if os.path.getsize(path) % size:
            return None
    return {"packets": packets, "missing": missing, "cut": cut_packets, "discarded": discarded}


def check_agrees(trace, is_incomplete):
    """Whether `tarn check` finds the trace valid, and what it prints. An incomplete one may lack whole CPUs, which is reported."""
    status, out, err = e2e.tarn("check", trace)
    damage = {line.split()[1] for line in out.splitlines() if line.startswith("damage ")}
    return status == (bool(damage) or "\nUNFINISHED: " in out) and damage <= ({"missing:"} if is_incomplete else set()), out + err


def judge(name, trace, status, text, breaks=None):
    """What every pull must leave behind. breaks: how often the link broke, at least."""
    counted, summary = count_losses(trace), SUMMARY.search(text)
    if not e2e.check(counted and summary and counted["packets"], f"{name}: a trace and a summary", text):
        return None
    missing, refused, cut_packets, discarded, cut_off, broke = (int(number or 0) for number in summary.groups())
    e2e.check((missing, cut_packets, discarded + cut_off) == (counted["missing"], counted["cut"], counted["discarded"]),
              f"{name}: pull counts what is lost", f"{counted}\n{text}")
    e2e.check(status == (1 if missing or refused or ", incomplete" in text else 0),
              f"{name}: the exit status reports losses", f"{status}\n{text}")
    if breaks:
        e2e.check(broke >= breaks and refused == 0, f"{name}: the link broke at least {breaks} times and was resumed", text)
    is_valid, shown = check_agrees(trace, ", incomplete" in text)
    e2e.check(is_valid and (f"lost: {discarded + cut_off} events, {missing} packets with" if discarded + cut_off + missing else "lost: nothing") in shown,
              f"{name}: tarn check agrees", f"{counted}\n{shown}")
    status, _, err = e2e.run("babeltrace2", trace, "-o", "text", "-w", "/dev/null")
    sums = {kind: sum(map(int, re.findall(rf"discarded (\d+) {kind}s?\b", err))) for kind in ("event", "packet")}
    e2e.check(status == 0 and sums == {"event": discarded + cut_off, "packet": missing}, f"{name}: babeltrace2 agrees",
              f"{counted} {sums}\n{err}")
    return counted


class Load:
    """sdet in the guest, repeated as long as go_on() is called: an idle guest logs little. Its last line is the
    result, or that another is still cleaning up."""

    COMMAND = "sdet -n 4 -r 2 &\n"

    def __init__(self, machine):
        self.machine = machine
        self.start()

    def start(self):
        self.begun = len(self.machine.lines)
        self.machine.type(self.COMMAND)

    def go_on(self):
        if any("sdet: " in line for line in self.machine.lines[self.begun:]):
            self.start()


def pull_through(machine, directory, name, spoil, *options, serial=None, enough=None):
    """A pull through a proxy while the guest is busy (serial: Proxy's path); the trace, status, text, seconds. enough: of
    the proxy, whether the pull shall end now; where the options do not end it."""
    trace = os.path.join(directory, name)
    proxy, load = Proxy(machine, spoil, serial, trace), Load(machine)
    begun = time.monotonic()
    try:
        pull = e2e.Pull(machine, trace, *options, "--wait", "20", source=proxy.source)
        while pull.process.poll() is None and time.monotonic() < begun + 90 * e2e.PATIENCE and not (enough and enough(proxy)):
            time.sleep(0.05)
            load.go_on()
        status, text = pull.finish(20)
    finally:
        proxy.close()
    return trace, status, text, time.monotonic() - begun
