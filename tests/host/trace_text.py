"""Traces written by hand: lines of text to a trace directory, in either byte order.

    1000 0 sched_switch prev_state=ready next=11/1/calc
    1500 0 !lost 20
    +50 1 user_text text=later

Time in ticks (+50: after the line before), processor, event, fields by name: numbers, labels of enumerations, texts without blanks,
elements of a sequence with a colon between; what is not given is 0. A switch says the next thread's number, process and name in one
word; without prev_tid it is from the thread that ran. Lines of one processor are in order of time; empty lines and those that begin
with # do not count. A packet begins with each processor's first line and with each !lost, which ends the one before and says how many
events were lost between the two; !closed, the last line of a processor, is a packet without events, for what !lost loses until then;
if the first event is no trace_context, one of the idle thread is put before it. Events have the layout of the system's metadata."""
import functools
import os
import re
import shutil
import struct
import types

from end_to_end import guest

ORDERS = {"le": "<", "be": ">"}
with open(os.path.join(guest.ROOT, "build/gen/trace/metadata.tsdl"), encoding="utf-8") as file:
    TEMPLATE = file.read()
UUID = bytes.fromhex(re.search(r'uuid = "(.*?)"', TEMPLATE)[1].replace("-", ""))
HEADER, CLOSING = 96, 2  # bytes of a packet's header, its flag (trace/format/format.h)
FILLER, END, LENGTH_MAX = (0, 1), (0, 7), 1023
RUNNING = {"trace_context": ("tid", "pid", "name"), "sched_switch": ("next_tid", "next_pid", "next_comm")}
RAN = "prev_tid", "prev_pid", "prev_comm"


def metadata(order="le", cpus=2, hz=1000000000, offset=0):
    """OFFSET: nanoseconds of the wall clock at tick 0."""
    values = {"BYTE_ORDER": order, "CLOCK_HZ": hz, "CLOCK_OFFSET_S": offset // 10**9, "CLOCK_OFFSET": offset % 10**9 * hz // 10**9,
              "ENVIRONMENT": f'    hostname = "made";\n    architecture = "test";\n    cpu_count = {cpus};\n'}
    return re.sub(r"@(\w+)@", lambda name: str(values[name[1]]), TEMPLATE).encode()


def event_head(order, number, words, time):
    """number: (class, minor)."""
    number, words = number[0] << 16 | number[1], words if words <= LENGTH_MAX else 0
    return struct.pack(ORDERS[order] + "II", number << 10 | words if order == "be" else words << 22 | number, time & 0xffffffff)


@functools.cache
def layouts():
    """{event: (number, fields by name)}. The schema has no holes."""
    found = {}
    for event, number, body in re.findall(r'^event \{\s+name = "(\w+)";\s+id = (\d+);(.*?)^\};', TEMPLATE, re.M | re.S):
        fields, at = {}, 8
        for kind, labels, name, count in re.findall(r"^ {8}(?:enum : )?(\w+)(?: \{(.*?)\})? (\w+)(?:\[(\w+)\])?;$", body, re.M):
            width = int(re.sub(r"\D", "", kind) or 8) // 8
            labels = {label: int(value) for label, value in re.findall(r'"(\w+)" = (-?\d+)', labels)}
            fields[name] = types.SimpleNamespace(at=at, kind=kind, width=width, count=count, labels=labels)
            at += width * int(count) if count.isdigit() else 0 if count or kind == "string" else width
        found[event] = (int(number) >> 16, int(number) & 0xffff), fields, at
    return found


class Stream:
    def __init__(self, cpu, order, size):
        self.cpu, self.order, self.size = cpu, order, size
        self.data, self.packet = bytearray(), None
        self.time = self.discarded = self.number = self.before = self.events = 0

    def put(self, data, at, value, width):
        data[at:at + width] = (value % 2**(8 * width)).to_bytes(width, "big" if self.order == "be" else "little")

    def begin(self, first):
        self.packet, self.begun, self.events, self.running = bytearray(HEADER), self.time, 0, {}
        if first != "trace_context":
            self.append(*layouts()["trace_context"][::2])

    def append(self, number, event):
        """EVENT: its bytes, or how many."""
        event = bytearray(event)
        event += bytes(-len(event) % 8)
        event[:8] = event_head(self.order, number, len(event) // 8, self.time)
        assert len(self.packet) + len(event) + 16 <= self.size, f"the packet at {self.begun} is full"
        self.packet += event
        self.events += 1

    def end(self, flags=0):
        if not flags:
            self.append(END, 8)
        used = len(self.packet)
        struct.pack_into(ORDERS[self.order] + "II16s8QII", self.packet, 0, 0xc1fc1fc1, 0, UUID, self.begun, self.time, used * 8, self.size * 8,
                         self.discarded, self.number, self.size // 8, self.before, self.cpu, flags)
        if used < self.size:
            self.packet += event_head(self.order, FILLER, (self.size - used) // 8, self.time)
        self.data += self.packet.ljust(self.size, b"\0")
        self.before += self.events - 1
        self.number += 1
        self.packet = None

    def set_field(self, event, field, text):
        end = field.at + field.width * (int(field.count) if field.count.isdigit() else 1)
        if field.kind == "text8_t" and field.count:
            event[field.at:end] = text.encode()[:field.width * int(field.count)].ljust(end - field.at, b"\0")
        elif field.kind == "string":
            event[field.at:] = text.encode() + b"\0"
        else:
            for place, word in enumerate(text.split(":") if field.count else [text]):
                value = field.labels[word] if word in field.labels else int(word, 0)
                event.extend(bytes(max(0, field.at + (place + 1) * field.width - len(event))))
                self.put(event, field.at + place * field.width, value, field.width)

    def add(self, name, words):
        number, fields, size = layouts()[name]
        if self.packet is None:
            self.begin(name)
        event, values = bytearray(size + any(field.kind == "string" for field in fields.values())), dict(word.split("=", 1) for word in words)
        if name == "sched_switch":
            values = dict(zip(RAN, (self.running.get(key, "0" * (key != "name")) for key in RUNNING["trace_context"]))) | values
            if "next" in values:
                values |= zip(RUNNING[name], values.pop("next").split("/", 2))
        for key, text in values.items():
            self.set_field(event, fields[key], text)
            if fields[key].count and not fields[key].count.isdigit():
                self.set_field(event, fields[fields[key].count], str(len(text.split(":"))))
        if name in RUNNING:
            self.running = {key: values.get(other, "") or "0" * (key != "name") for key, other in zip(RUNNING["trace_context"], RUNNING[name])}
        self.append(number, event)


def write(path, text, order="le", freq=1000000000, packet=65536):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    streams, time = {}, 0
    for line in filter(None, text.split("\n")):
        if line[0] == "#":
            continue
        at, cpu, name, *words = line.split(" ")
        time = int(at) + time * (at[0] == "+")
        stream = streams.setdefault(int(cpu), Stream(int(cpu), order, packet))
        assert time >= stream.time, f"earlier than the line before: {line}"
        stream.time = time
        if name == "!lost":
            stream.end()
            stream.discarded += int(words[0])
        elif name == "!closed":
            stream.packet, stream.begun, stream.events = bytearray(HEADER), time, 0
            stream.end(CLOSING)
        else:
            stream.add(name, filter(None, words))
    for stream in streams.values():
        if stream.packet:
            stream.end()
        with open(os.path.join(path, f"cpu{stream.cpu}"), "wb") as file:
            file.write(stream.data)
    with open(os.path.join(path, "metadata"), "wb") as file:
        file.write(metadata(order, max(streams) + 1, freq, 1700000000333333333))
    return path
