"""The model: classes, events, fields, enumerations, tables; and the numbers of trace/format."""
import dataclasses
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Numbers as in enum trace_field_kind, enum trace_column_kind and enum trace_key_owner.
FIELD_KINDS = ["UNSIGNED", "SIGNED", "HEX", "COMM", "STRING", "ARRAY"]
UNSIGNED, SIGNED, HEX, COMM, STRING, ARRAY = range(len(FIELD_KINDS))
COLUMN_KINDS = ["key", "count", "sum", "max", "min", "histogram"]
OWNERS = ["", "process", "lock", "place"]
LINE_WORDS = 8  # tables begin on cache lines


def read_constants():
    """Numbers that trace/format defines: {name: text}."""
    texts = {}
    for name in "format", "layout", "table", "descriptor", "event_table":
        with open(os.path.join(ROOT, f"trace/format/{name}.h"), encoding="utf-8") as header:
            texts.update(re.findall(r"^(?:#define| *)\b *(TRACE_\w+)[ =]+([^/,\n]+)", header.read(), re.M))
    return texts


CONSTANTS = read_constants()


def constant(name):
    text = re.sub(r"\b(0x[0-9a-f]+|\d+)u(ll)?\b", r"\1", CONSTANTS[name])
    return eval(re.sub(r"TRACE_\w+", lambda match: str(constant(match[0])), text))


class Mistake(Exception):
    """In a file of the schema."""


@dataclasses.dataclass
class Enumeration:
    name: str
    values: dict  # by name


@dataclasses.dataclass
class Field:
    kind: int = UNSIGNED
    bytes: int = 0  # of one element
    name: str = ""
    description: str = ""
    offset: int = 0  # bytes, in the event's body
    count_field: int = -1  # of an array: index of the field with the count
    enumeration: object = None  # a name until the event is complete

    def is_reserved(self):
        """Padding that the schema declares is not an argument: it is always 0."""
        return self.name.startswith("reserved")


@dataclasses.dataclass
class Event:
    name: str
    line: int
    minor: int
    full_name: str  # in the metadata: CLASS_NAME, or the name after `as`
    description: str = ""
    format: str = ""
    limit: int = -1  # declared `sampled` or `above`: its number in trace_limited or in the application
    above: str = ""  # declared so: name of the field
    fields: list = dataclasses.field(default_factory=list)
    fixed_bytes: int = 0  # all fields except a final string or array

    def tail(self):
        return self.fields[-1] if self.fields and self.fields[-1].kind in (STRING, ARRAY) else None

    def field(self, name):
        return next((i for i, field in enumerate(self.fields) if field.name == name), -1)


@dataclasses.dataclass
class Class:
    file: str
    name: str = ""
    description: str = ""
    number: int = -1  # -1: an application's, assigned at registration
    is_detail: bool = False
    enums: dict = dataclasses.field(default_factory=dict)  # by name
    events: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Column:
    kind: str
    word: int
    name: str = ""
    description: str = ""
    unit: str = ""
    key_bytes: int = 0  # of the C argument of a key: 4 or 8
    is_hex: bool = False
    owner: int = 0
    words: int = 1


@dataclasses.dataclass
class Table:
    file: str
    line: int
    name: str
    number: int = 0
    description: str = ""
    rows: int = 0
    row_words: int = 2  # TRACE_ROW_KEYS; `ended` is added at the end
    is_hashed: bool = False
    is_private: bool = False  # its rows are not in the tables of CPUs
    adds_name: str = ""  # of the table that readers add to this one
    adds: int = 0  # its index,
    adds_key: int = 0  # and that of its key
    columns: list = dataclasses.field(default_factory=list)
    offset: int = 0  # bytes

    def keys(self):
        return [column for column in self.columns if column.kind == "key"]

    def counted(self):
        return [column for column in self.columns if column.kind != "key"]

    def bytes(self):
        words = constant("TRACE_TABLE_HEAD_WORDS") + self.rows * self.row_words
        return (words + LINE_WORDS - 1) // LINE_WORDS * LINE_WORDS * 8
