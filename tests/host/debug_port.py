"""QEMU's debug port, for tests that change or stop the kernel where it does not expect it."""
import os
import re
import socket

import end_to_end as e2e

X86 = e2e.ARCH == "x86_64"
KERNEL = os.path.join(e2e.guest.build_directory(e2e.ARCH), "kernel/tarn.elf")
KERNEL_BASE = 0xFFFFFFFF80000000 if X86 else 0xC000000000000000


def symbol(name):
    _, text, _ = e2e.run("nm", KERNEL)
    return int(re.search(rf"^([0-9a-f]+) . {name}$", text, re.M)[1], 16)


class DebugPort:
    """QEMU's gdb stub: the machine stands still from here to close(), but for run_to()."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30 * e2e.PATIENCE)
        self.socket.connect(path)
        self.received = b""
        self.ask("Qqemu.PhyMemMode:1")

    def send(self, text):
        self.socket.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())

    def packet(self):
        while not (packet := re.search(rb"\$([^#]*)#..", self.received)):
            self.received += self.socket.recv(4096)
        self.received = self.received[packet.end():]
        self.socket.sendall(b"+")
        return packet[1].decode()

    def ask(self, text):
        """What it prints; that the machine stopped it says on its own."""
        self.send(text)
        while (reply := self.packet()).startswith("T"):
            pass
        return reply

    def resume(self, command):
        self.send(command)
        while not self.packet().startswith("T"):
            pass

    def run_to(self, *addresses):
        for address in addresses:
            self.ask(f"Z1,{address:x},4")
        self.resume("c")
        for address in addresses:
            self.ask(f"z1,{address:x},4")

    def step(self):
        self.resume("s")

    def write(self, address, data):
        for at in range(0, len(data), 512):
            piece = data[at:at + 512]
            if self.ask(f"M{address - KERNEL_BASE + at:x},{len(piece):x}:{piece.hex()}") != "OK":
                raise e2e.guest.GuestError("QEMU does not write memory")

    def close(self):
        self.ask("D")
        self.socket.close()
