# SPDX-License-Identifier: BSD-2-Clause
"""Formats events. The system's are described by build/gen/trace/events.json, which the build makes from trace/schema;
those of applications by the metadata that they registered in the guest's trace (format/FORMAT.md, Metadata). Does not
need gdb.
"""
import json
import re
import struct

NAME_BYTES = 16
INTEGERS = {"uint": "unsigned", "int": "signed", "xint": "hex"}
EVENT = re.compile(r'event \{\s*name = "(\w+)";\s*id = (\d+);.*?fields := struct \{(.*?)\n\s*\};\s*\};', re.DOTALL)
FIELD = re.compile(r"(?P<enum>enum : )?(?P<type>text8_t|string|(?P<kind>x?u?int)(?P<bits>\d+)_t)(?P<body> \{.*\})? "
                   r"(?P<name>\w+)(\[(?P<count>\w+)\])?;")


def find_values(body):
    return {value: name for name, value in re.findall(r'"([^"]+)" = (\d+)', body or "")}


def parse_field(line, fields, offset):
    """Parses one line of TSDL, as written by evgen, into a table entry."""
    match = FIELD.search(line)
    kind, size = {"text8_t": ("comm", NAME_BYTES), "string": ("string", 1)}.get(match["type"], (None, 0))
    field = {"name": match["name"], "kind": kind or INTEGERS[match["kind"]], "bytes": size or int(match["bits"]) // 8}
    if match["count"] and kind is None:
        field["kind"] = "array"
        field["count_field"] = [f["name"] for f in fields].index(match["count"])
    if match["enum"]:
        field["values"] = find_values(match["body"])
    align = 1 if kind else field["bytes"]
    field["offset"] = (offset + align - 1) // align * align
    return field


def parse_events(metadata):
    """Parses the events of a TSDL text into table entries without a format."""
    for name, number, body in EVENT.findall(metadata):
        fields, end = [], 0
        for line in body.splitlines():
            if line.strip():
                fields.append(parse_field(line, fields, end))
                end = fields[-1]["offset"] + fields[-1]["bytes"]
        fixed = fields[-1]["offset"] if fields and fields[-1]["kind"] in ("string", "array") else end
        yield {"id": int(number), "name": name, "class": name.partition("_")[0], "fields": fields, "fixed_bytes": fixed}


class Table:
    def __init__(self, path, order):
        with open(path) as file:
            data = json.load(file)
        self.uuid, self.order = data["uuid"], order
        self.events = {event["id"]: event for event in data["events"]}

    def add_applications(self, metadata):
        for event in parse_events(metadata):
            self.events.setdefault(event["id"], event)

    def classes(self):
        return sorted({event["class"] for event in self.events.values()})

    def name(self, number):
        event = self.events.get(number)
        return event["name"] if event else f"event {number >> 16}/{number & 0xFFFF}"

    def print(self, number, body):
        """Returns name and fields, formatted by the event's format if it has one."""
        event = self.events.get(number)
        if not event:
            return self.name(number)
        if len(body) < event["fixed_bytes"]:
            return f"{event['name']}: (too short)"
        values = {field["name"]: self._value(field, event["fields"], body) for field in event["fields"]}
        if "format" in event:
            words = re.sub(r"%(\w*)%", lambda match: values[match[1]] if match[1] else "%", event["format"])
        else:
            words = " ".join(f"{name}={value}" for name, value in values.items())
        return f"{event['name']}: {words}"

    def _integer(self, field, body, signed=False):
        size = field["bytes"]
        data = body[field["offset"]:field["offset"] + size]
        return int.from_bytes(data, "little" if self.order == "<" else "big", signed=signed)

    def _value(self, field, fields, body):
        kind, at = field["kind"], field["offset"]
        if kind in ("comm", "string"):
            data = body[at:at + NAME_BYTES] if kind == "comm" else body[at:]
            return re.sub(r"[^ -~]", "?", data.split(b"\0")[0].decode(errors="replace"))
        if kind == "array":
            count = min(self._integer(fields[field["count_field"]], body), (len(body) - at) // 8)
            return " ".join(f"{word:#x}" for word in struct.unpack_from(f"{self.order}{count}Q", body, at))
        number = self._integer(field, body, kind == "signed")
        return field.get("values", {}).get(str(number)) or (f"{number:#x}" if kind == "hex" else str(number))
