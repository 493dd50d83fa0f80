"""Writes what is made from tables of counters (trace/format/table.h).

    <trace/tables.h>         the rows as C structures, and the functions that find them
    <trace/rows.h>           the rows of private tables
    trace/events.[ch]        constants, and the tables as data, for readers
    docs/events.md           their reference
"""
import outputs
from model import constant
from parse_table import PAGE_BYTES


def end_of(schema):
    """Bytes to the end of the last one, where TRACE_TABLES_TAIL_WORDS words follow."""
    return max((table.offset + table.bytes() for table in schema.tables if not table.is_private), default=0)


def bytes_of(schema):
    if not schema.tables:
        return 0
    end = end_of(schema) + constant("TRACE_TABLES_TAIL_WORDS") * 8
    return (end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES


def layout(schema):
    """A text that the UUID covers."""
    if not schema.tables:
        return ""
    lines = ["/* tables: name number offset rows row_words form text, then its words: kind name unit word words"]
    for table in schema.tables:
        form = ("hashed" if table.is_hashed else "private" if table.is_private else
                f"direct{'+' if table.adds_name else ''}{table.adds_name}")
        lines.append(f" * table {table.name} {table.number} {table.offset} {table.rows} {table.row_words} {form}")
        lines += [f" *  {column.kind} {column.name} {'hex' if column.is_hex else column.unit or '-'} {column.word} "
                  f"{column.words}" for column in table.columns]
    moves = 8 * constant("TRACE_TABLE_MOVES_BEGUN")
    return "\n".join([*lines, f" * moves {moves} {end_of(schema)}", " */", ""])


# ---- C for writers ----

def row_struct(schema, table):
    """With a structure of the columns alone, if another table has the same."""
    lines = []
    for column in table.columns:
        array = "[TRACE_TABLE_BUCKETS]" if column.kind == "histogram" else ""
        unit = f", {column.unit}" if column.unit else ""
        lines.append(f"    uint64_t {column.name}{array}; /* {column.description}{unit} */")
    ending = ["    uint64_t ended;", "};"]
    common = [f"struct trace_{table.name}_columns {{", *lines[len(table.keys()):], *ending]
    return ["", f"/* {table.description} */", f"struct trace_{table.name}_row {{", f"    uint64_t begun, {'limit' if table.is_private else 'tag'};", *lines, *ending,
            *(common if any(other.adds_name == table.name for other in schema.tables) else []),
            f'_Static_assert(sizeof(struct trace_{table.name}_row) == {8 * table.row_words}, "no padding");']


DIRECT = """static inline struct trace_@_row *trace_@_row(char *ring{arguments})
{{
    return (struct trace_@_row *)trace_table_index({place}, {first});
}}"""

# For programs: what is known is compared here, the rest is a call.
HASHED = """static inline struct trace_@_row *trace_@_row(char *ring{arguments})
{{
    const uint64_t keys[] = {{{names}}};
    return (struct trace_@_row *)trace_table_find({place}, keys, {count});
}}
/* The same, if `places` know where; else NULL. */
static inline struct trace_@_row *trace_@_row_known(char *ring{arguments}, struct trace_places *places)
{{
    struct trace_@_row *row =
        (struct trace_@_row *)trace_table_known({place}, places, {first});
    return row{same}
               ? row
               : NULL;
}}
/* The same, and `places` will know. */
static inline struct trace_@_row *trace_@_row_again(char *ring{arguments}, struct trace_places *places)
{{
    const uint64_t keys[] = {{{names}}};
    return (struct trace_@_row *)trace_table_find_again({place}, keys, {count}, places);
}}
static inline uint64_t *trace_@_head(char *ring)
{{
    return trace_table_head({place});
}}"""


def row_functions(table):
    keys = table.keys()
    names = [key.name for key in keys]
    why = "no row may be taken, which is counted" if table.is_hashed else "there is no such row, which is counted"
    text = (HASHED if table.is_hashed else DIRECT).format(
        arguments="".join(f", uint{8 * key.key_bytes}_t {key.name}" for key in keys),
        place=f"ring, {table.offset}, {table.rows}, {table.row_words}",  # arguments of trace_table_find() and others
        names=", ".join(names), count=len(keys), first=names[0],
        same="".join(f" &&\n                   __atomic_load_n(&row->{name}, __ATOMIC_RELAXED) == {name}" for name in names))
    return ["", f"/* NULL: {why}, or there are no tables (yet). */", text.replace("@", table.name)]


def header(schema):
    lines = [f"/* {outputs.NOTE} from trace/schema. Tables of counters: see trace/ring/table.h. */",
             "#pragma once", "#include <trace/ring/table.h>"]
    for table in schema.tables:
        lines += [] if table.is_private else row_struct(schema, table) + row_functions(table)
    return "\n".join([*lines, ""])


def private_rows(schema):
    lines = [f"/* {outputs.NOTE} from trace/schema. Rows of private tables: see trace/format/routine.h. */",
             "#pragma once", "#include <trace/format/table.h>"]
    return "\n".join([*lines, *(line for table in schema.tables if table.is_private for line in row_struct(schema, table)), ""])


# ---- C for readers ----

def constants(schema):
    lines = ["/* tables of counters (trace/format/table.h): their number, and bytes of each CPU's, whole pages */",
             f"#define TRACE_TABLE_COUNT {len(schema.tables)}u", f"#define TRACE_TABLES_BYTES {bytes_of(schema)}u",
             *(f"#define TRACE_TABLE_{table.name.upper()} {table.number}u" for table in schema.tables)]
    return "\n".join([*lines, "/* by number; the last one has no name */",
                      "extern const struct trace_table_info trace_table_list[TRACE_TABLE_COUNT + 1];", ""])


def data(schema):
    lines = []
    for table in schema.tables:
        lines += ["", f"static const struct trace_column_info columns_{table.name}[] = {{",
                  *(f'    {{"{column.name}", "{column.description}", "{column.unit}", TRACE_COLUMN_{column.kind.upper()}, '
                    f"{int(column.is_hex)}, {column.word}, {column.words}, {column.owner}}}," for column in table.columns),
                  "};"]
    lines += ["", "const struct trace_table_info trace_table_list[TRACE_TABLE_COUNT + 1] = {"]
    for table in schema.tables:
        adds = f"&trace_table_list[{table.adds}], {table.adds_key}" if table.adds_name else "0, 0"
        lines.append(f'    {{"{table.name}", "{table.description}", {table.number}, {table.offset}, {table.rows}, '
                     f"{table.row_words}, {int(table.is_hashed)}, {int(table.is_private)}, {len(table.keys())}, {len(table.columns)}, "
                     f"columns_{table.name}, {adds}, {end_of(schema)}}},")
    return "\n".join([*lines, "    {0},", "};"])


# ---- reference ----

def table_docs(table):
    adds = f" Readers add the rows of `{table.adds_name}` with the same `{table.columns[0].name}`." if table.adds_name else ""
    form = (f"Private rows of {table.row_words} words" if table.is_private else f"{table.rows} rows of {table.row_words} words, "
            f"{'hashed' if table.is_hashed else 'direct'}; at byte {table.offset}")
    lines = [f"### `{table.name}` (table {table.number})", "",
             f"{table.description}. {form}. Declared in `{table.file}`.{adds}", "",
             "| word | kind | column | unit | meaning |", "|---|---|---|---|---|"]
    for column in table.columns:
        last = f"–{column.word + column.words - 1}" if column.words > 1 else ""
        lines.append(f"| {column.word}{last} | {column.kind} | `{column.name}` | {column.unit} | {column.description} |")
    return [*lines, ""]


def docs(schema):
    if not schema.tables:
        return ""
    lines = ["## Tables of counters", "",
             f"Beside each CPU's ring, {bytes_of(schema) >> 10} KiB. trace/format/FORMAT.md, \"Tables\", has the layout. "
             "`trace tables` prints them in the guest.", ""]
    for table in schema.tables:
        lines += table_docs(table)
    return "\n".join([*lines, ""])
