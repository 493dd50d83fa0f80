"""Reads the files of trace/schema into the model and refuses mistakes.

One line is one statement, except for an enumeration, whose braces may span lines; text.py matches them with their
forms. Each message names file and line, the mistake and the remedy.
"""
import ctypes
import os
import re

from model import ARRAY, COMM, STRING, UNSIGNED, Class, Enumeration, Event, Field, Mistake, constant
from parse_table import TableReader, finish_tables
from text import Text

# Words of C that are not also reserved in the metadata language (trace_name_is_reserved), and what the log
# functions use.
RESERVED_WORDS = set("auto break case continue default do else extern for goto if inline register restrict return "
                     "sizeof static switch union volatile while slot".split())


class Reader(TableReader):
    """The statements of one file."""

    def __init__(self, schema, file, app, sources):
        super().__init__(file)
        self.schema, self.app, self.sources = schema, app, sources
        self.own = Class(file)
        self.event = None  # its fields are being read

    # ---- enumerations ----

    def add_value(self, enum, name, value):
        if name in enum.values:
            self.refuse(f"enum {enum.name} has '{name}' twice: rename one")
        for other, its in enum.values.items():
            if its == value:
                self.refuse(f"enum {enum.name} gives {value} to both '{other}' and '{name}': a value has one name")
        if self.app and value >= 2**63:
            self.refuse(f"enum {enum.name}: numbers from 2^63 on are not for applications: "
                        f"choose a smaller one for '{name}'")
        enum.values[name] = value

    def read_enum_file(self, enum, key):
        """enum NAME from "KEY": "NAME = NUMBER" lines of the file given for KEY on the command line."""
        if key not in self.sources:
            self.refuse(f'no file was given for enum source "{key}": run evgen with --enum {key}=FILE')
        text = Text(self.sources[key])
        while text.next_line():
            found = text.match("NAME = NUMBER")
            self.add_value(enum, found["NAME"], found["NUMBER"])

    def read_values(self, enum, values):
        start = self.line
        while "}" not in values:
            if not self.next_line():
                self.refuse(f"enum {enum.name} has no closing brace", start)
            values += "," + self.rest.partition("#")[0]
        self.rest, _, rest = values.partition("}")
        for self.rest in filter(str.strip, self.rest.split(",")):
            found = self.match("NAME = NUMBER")
            self.add_value(enum, found["NAME"], found["NUMBER"])
        self.rest = rest
        self.match("")

    def read_enum(self):
        head, brace, values = self.rest.partition("#")[0].partition("{")
        self.rest = head if brace else self.rest
        found = self.match("enum NAME" if brace else 'enum NAME from "KEY"')
        enum = Enumeration(found["NAME"], {})
        if enum.name in self.own.enums:
            self.refuse(f"enum {enum.name} is declared twice: rename one")
        if brace:
            self.read_values(enum, values)
        else:
            self.read_enum_file(enum, found["KEY"])
        if not enum.values:
            self.refuse(f"enum {enum.name} is empty: give it a value")
        enum.values = dict(sorted(enum.values.items(), key=lambda value: value[1]))
        self.own.enums[enum.name] = enum

    # ---- fields ----

    def array_type(self, word, count):
        if word != "x64":
            self.refuse(f"arrays are of x64 only, not of '{word}'")
        index = self.event.field(count)
        if index < 0:
            self.refuse(f"array count '{count}' is no field declared before: add one")
        counter = self.event.fields[index]
        if counter.kind != UNSIGNED or counter.bytes < 2 or counter.enumeration:
            self.refuse(f"array count '{count}' must be a u16, u32 or u64")
        return Field(ARRAY, 8, count_field=index)

    def field_type(self, word, base, count):
        """TYPE, TYPE:BASE of an enumeration, or TYPE[COUNT]."""
        if count:
            return self.array_type(word, count)
        if word in ("comm", "string"):
            return Field(COMM, constant("TRACE_NAME_BYTES")) if word == "comm" else Field(STRING, 1)
        match = re.fullmatch(r"([usx])(8|16|32|64)", base or word)
        if not match:
            self.refuse(f"unknown type '{base or word}': types are u8 to u64, s8 to s64, x8 to x64, comm, string, "
                        "ENUM:uN, x64[COUNT]")
        if base and match[1] != "u":
            self.refuse(f"'{base}' cannot hold an enumeration: use u8, u16, u32 or u64")
        return Field("usx".index(match[1]), int(match[2]) // 8, enumeration=word if base else None)

    def place(self, field):
        """After those before it; a hole is refused, so that the file shows the packing."""
        align = {COMM: 8, STRING: 1}.get(field.kind, field.bytes)  # a comm is copied by words
        hole = -self.event.fixed_bytes % align
        if hole:
            self.refuse(f"'{field.name}' leaves a hole of {hole} bytes before it: move fields, or add a reserved one")
        field.offset = self.event.fixed_bytes
        if field.kind not in (STRING, ARRAY):
            self.event.fixed_bytes += field.bytes

    def check_name(self, name):
        if name in RESERVED_WORDS or self.schema.is_reserved(name):
            self.refuse(f"'{name}' is a word of C or of the CTF metadata language: choose another name")

    def read_field(self):
        event, most = self.event, constant("TRACE_DESCRIPTOR_FIELDS_MAX")
        found = self.match('TYPE NAME "TEXT"')
        if event.tail():
            self.refuse(f"'{event.tail().name}' must be the last field: move it down")
        if len(event.fields) == most:
            self.refuse(f"more than {most} fields: split the event")
        field = self.field_type(found["TYPE"], found["BASE"], found["COUNT"])
        field.name, field.description = found["NAME"], found["TEXT"]
        self.check_name(field.name)
        if event.field(field.name) >= 0:
            self.refuse(f"field '{field.name}' is declared twice: rename one")
        self.place(field)
        event.fields.append(field)

    # ---- events and classes ----

    def read_format(self):
        event = self.event
        if event.format:
            self.refuse(f"event {event.name} has a second format: remove one")
        event.format = self.match('format "TEXT"')["TEXT"]
        parts = event.format.split("%")
        if len(parts) % 2 == 0:
            self.refuse("the format has a '%' without its partner: write %field%, or %% for a percent sign")
        for name in parts[1::2]:
            if name and event.field(name) < 0:
                self.refuse(f"the format names '{name}', which is no field of {event.name}")

    def finish_enumeration(self, field):
        event, name = self.event, field.enumeration
        if name not in self.own.enums:
            self.refuse(f"field '{field.name}' of event {event.name}: unknown enumeration '{name}': declare it above",
                        event.line)
        field.enumeration = self.own.enums[name]
        last = max(field.enumeration.values.values())
        if last >> 8 * field.bytes:
            self.refuse(f"field '{field.name}' of event {event.name}: {last} of enum {name} does not fit in "
                        f"{field.bytes} bytes", event.line)

    def finish_event(self):
        event = self.event
        if not event:
            return
        if not event.format:
            self.refuse(f"event {event.name} has no format line: add one", event.line)
        if event.fixed_bytes % 8 and not (event.tail() and event.tail().kind == STRING):
            self.refuse(f"event {event.name} ends {8 - event.fixed_bytes % 8} bytes short of a 64-bit word: "
                        "add a reserved field", event.line)
        if event.above and not any(field.name == event.above and field.kind == UNSIGNED for field in event.fields):
            self.refuse(f"event {event.name}: '{event.above}' is no field of a number without sign", event.line)
        for field in event.fields:
            if field.enumeration:
                self.finish_enumeration(field)
        self.event = None

    def read_class(self):
        own, first_app = self.own, constant("TRACE_CLASS_APP_FIRST")
        if own.name:
            self.refuse("a second class in one file: put it in a file of its own")
        found = self.match('class NAME app "TEXT"' if self.app else 'class NAME NUMBER [detail] "TEXT"')
        own.name, own.description = found["NAME"], found["TEXT"]
        if self.app:
            return
        own.number, own.is_detail = found["NUMBER"], bool(found["detail"])
        if own.number >= first_app:
            self.refuse(f"class {own.number}: the system's classes are 0 to {first_app - 1}, "
                        "the rest belongs to applications")

    def read_event(self):
        """as ALIAS: the event's name in the metadata, if it is not CLASS_EVENT. sampled: one in N can be logged.
        above FIELD: those in which it is at least a threshold. Schema numbers those that can be limited."""
        own, most = self.own, constant("TRACE_MINORS_SWITCHED")
        found = self.match('event NAME NUMBER [as ALIAS] [sampled | above FIELD] "TEXT"')
        event = Event(found["NAME"], self.line, found["NUMBER"], found["ALIAS"] or f"{own.name}_{found['NAME']}",
                      found["TEXT"], limit=0 if found["sampled"] or found["above"] else -1, above=found["FIELD"] or "")
        if self.app and found["ALIAS"]:
            self.refuse("the names of an application's events begin with its class: remove 'as'")
        if event.minor >= most:
            self.refuse(f"minor {event.minor}: only 0 to {most - 1} have a switch of their own")
        for other in own.events:
            if other.minor == event.minor:
                self.refuse(f"minor {event.minor} belongs to event {other.name} (line {other.line}): take a free one")
            if other.name == event.name:
                self.refuse(f"event {event.name} is declared twice (line {other.line}): rename one")
        own.events.append(event)
        self.event = event

    # ---- statements ----

    def read_statement(self):
        word = re.match(r"\s*(\w*)", self.rest)[1]
        begins = {"class": self.read_class, "enum": self.read_enum, "event": self.read_event, "table": self.read_table}
        if word != "class" and not self.own.name:
            self.refuse('the file must begin with its class: class NAME NUMBER "what it is about"')
        if word in begins:
            self.finish_event()
            self.finish_table()
            begins[word]()
        elif self.table:
            self.read_column(word)
        elif not self.event:
            self.refuse(f"'{word}' outside an event or a table: expected class, enum, event or table")
        elif word == "format":
            self.read_format()
        elif self.event.format:
            self.refuse(f"a field after the format of event {self.event.name}: the format comes last")
        else:
            self.read_field()

    def read(self):
        while self.next_line():
            self.read_statement()
        self.finish_event()
        self.finish_table()
        if not self.own.name:
            self.refuse('no class in this file: begin with class NAME NUMBER "what it is about"')
        if not self.own.events:
            self.refuse(f"class {self.own.name} has no event: add one")
        return self.own


class Schema:
    """The classes, sorted by number, their events by minor; the tables by number, which is the index."""

    def __init__(self, files, app, sources, library):
        self.tables = []
        self.library = ctypes.CDLL(os.path.abspath(library))  # trace/format/descriptor.c
        self.library.trace_name_is_reserved.restype = ctypes.c_bool
        self.library.trace_descriptor_tsdl.restype = ctypes.c_uint64
        self.classes = [Reader(self, file, app, sources).read() for file in files]
        finish_tables(self.tables)
        self.classes.sort(key=lambda own: own.number)
        self.limited = []
        for i, own in enumerate(self.classes):
            own.events.sort(key=lambda event: event.minor)
            self.number_limited(own)
            for other in self.classes[:i + 1]:
                self.check_pair(own, other)

    def is_reserved(self, name):
        return self.library.trace_name_is_reserved(name.encode())

    def number_limited(self, own):
        most = constant("TRACE_APP_LIMITED_MAX" if own.number < 0 else "TRACE_LIMITED_MAX")
        for event in own.events:
            if event.limit >= 0:
                if len(self.limited) == most:
                    raise Mistake(f"{own.file}:{event.line}: only {most} events can be limited")
                event.limit = len(self.limited)
                self.limited.append((own, event))

    def check_pair(self, own, other):
        for i, event in enumerate(own.events):
            for same in own.events[:i] if own is other else other.events:
                if same.full_name == event.full_name:
                    raise Mistake(f"{own.file}:{event.line}: event {event.full_name} is also declared in "
                                  f"{other.file}:{same.line}: rename one")
        if own is other:
            return
        if own.number == other.number and own.number >= 0:
            raise Mistake(f"{own.file}:1: class number {own.number} belongs to {other.name} ({other.file}): "
                          "take a free one")
        if own.name == other.name:
            raise Mistake(f"{own.file}:1: class {own.name} is also declared in {other.file}: rename one")
