"""Reads tables of counters (trace/format/table.h) of trace/schema into the model, and refuses mistakes."""
import dataclasses

from model import COLUMN_KINDS, OWNERS, Column, Mistake, Table, constant
from text import Text

ROW_NAMES = ["begun", "tag", "ended"]  # of every row
PAGE_BYTES = 4096


class TableReader(Text):
    """The statements of one table."""

    table = None  # its columns are being read

    def check_rows(self, table):
        most, least = constant("TRACE_TABLES_BYTES_MAX") // 8, constant("TRACE_TABLE_PROBES")
        if not table.is_private and not 0 < table.rows <= most:
            self.refuse(f"table {table.name}: {table.rows} rows: give it 1 to {most}")
        if table.is_hashed and (table.rows < least or table.rows & (table.rows - 1)):
            self.refuse(f"table {table.name}: {table.rows} rows: a hashed table has a power of two of them, "
                        f"at least {least}")

    def read_table(self):
        """Its key is the row's index (direct), readers add the rows of OTHER with that key, its rows are hashed, or they lie
        elsewhere (private)."""
        if self.app:
            self.refuse("tables are the system's: remove it from the application's class")
        found = self.match('table NAME NUMBER (private | rows ROWS (direct [+ OTHER] | hashed)) "TEXT"')
        table = Table(self.file, self.line, found["NAME"], found["NUMBER"], found["TEXT"], found["ROWS"] or 0,
                      is_hashed=bool(found["hashed"]), is_private=bool(found["private"]), adds_name=found["OTHER"] or "")
        self.check_name(table.name)
        self.check_rows(table)
        self.schema.tables.append(table)
        self.table = table

    def read_key(self, column):
        table, most = self.table, constant("TRACE_TABLE_KEYS_MAX")
        found = self.match(f'key (u32 | u64 | x64) NAME [{" | ".join(OWNERS[1:])}] "TEXT"')
        if table.counted():
            self.refuse("keys come before the other columns: move it up")
        if len(table.keys()) == (most if table.is_hashed else 1):
            self.refuse(f"table {table.name}: a hashed table has at most {most} keys, a direct one has one, the row's "
                        "index")
        column.key_bytes = 4 if found["u32"] else 8
        column.is_hex = bool(found["x64"])
        column.owner = next((number for number, word in enumerate(OWNERS) if found.get(word)), 0)
        return found

    def read_counted(self, column):
        if column.kind == "count":
            return self.match('count NAME "TEXT"')
        found = self.match(f'{column.kind} NAME (ticks | bytes | instructions | none) "TEXT"')
        column.unit = next((unit for unit in ("ticks", "bytes", "instructions") if found[unit]), "")
        if column.kind == "histogram":
            column.words = constant("TRACE_TABLE_BUCKETS")
        return found

    def check_column_name(self, name):
        self.check_name(name)
        if name in ROW_NAMES:
            self.refuse(f"'{name}' is a word of every row: choose another name")
        if any(column.name == name for column in self.table.columns):
            self.refuse(f"table {self.table.name} has '{name}' twice: rename one")

    def read_column(self, word):
        table, most = self.table, constant("TRACE_TABLE_COLUMNS_MAX")
        if word not in COLUMN_KINDS:
            self.refuse(f"'{word}': a column of a table is key, count, sum, max, min or histogram")
        if word == "min" and not table.is_private:
            self.refuse("rows begin with 0, which no least value replaces: remove it")
        if len(table.columns) == most:
            self.refuse(f"more than {most} columns: split the table")
        column = Column(word, table.row_words)
        found = self.read_key(column) if word == "key" else self.read_counted(column)
        column.name, column.description = found["NAME"], found["TEXT"]
        self.check_column_name(column.name)
        table.row_words += column.words
        table.columns.append(column)
        if table.row_words >= constant("TRACE_TABLE_ROW_WORDS_MAX"):
            self.refuse(f"a row of table {table.name} has more than {constant('TRACE_TABLE_ROW_WORDS_MAX')} words: "
                        "split the table")

    def finish_table(self):
        table = self.table
        if not table:
            return
        if not table.keys() or not (table.counted() or table.adds_name):
            self.refuse(f"table {table.name} needs a key, and a column that counts: add one", table.line)
        if table.counted() and table.adds_name:
            self.refuse(f"table {table.name} has the columns of {table.adds_name}: remove its own", table.line)
        for column in table.keys():
            if column.owner and not table.is_hashed:
                self.refuse(f"table {table.name} is direct, so its rows are not moved: remove 'process, lock "
                            f"or place' of key {column.name}", table.line)
        table.row_words += 1  # ended
        self.table = None


def find_added(tables, table):
    """The table that readers add to this one, which has its columns."""
    def refuse(why):
        raise Mistake(f"{table.file}:{table.line}: table {table.name} adds {table.adds_name}: {why}")

    other = next((other for other in tables if other.name == table.adds_name), table)
    if other is table or other.adds_name:
        refuse("name another table, which adds none itself")
    key, names = table.columns[0].name, [column.name for column in other.keys()]
    if key not in names:
        refuse(f"it needs the key {key} among its keys")
    table.adds, table.adds_key = other.number, names.index(key)
    shift = len(names) - 1  # a direct table has one key
    table.columns += [dataclasses.replace(column, word=column.word - shift) for column in other.counted()]
    table.row_words = other.row_words - shift


def finish_tables(tables):
    end, most = 0, constant("TRACE_TABLES_BYTES_MAX")
    tables.sort(key=lambda table: table.number)
    for table in tables:
        if table.adds_name:
            find_added(tables, table)
    for i, table in enumerate(tables):
        here = f"{table.file}:{table.line}: table"
        before = tables[i - 1] if i else None
        if before and before.number == table.number:
            raise Mistake(f"{here} number {table.number} belongs to {before.name} ({before.file}:{before.line}): "
                          "take a free one")
        if table.number != i:
            raise Mistake(f"{here} number {table.number}: tables are numbered from 0 on, next is {i}")
        for same in tables[:i]:
            if same.name == table.name:
                raise Mistake(f"{here} {table.name} is also declared in {same.file}:{same.line}: rename one")
        table.offset = end
        end += 0 if table.is_private else table.bytes()
        if end + constant("TRACE_TABLES_TAIL_WORDS") * 8 > most // PAGE_BYTES * PAGE_BYTES:
            raise Mistake(f"{here} {table.name} ends at byte {end} of each CPU's tables; {most} are there: "
                          "give it fewer rows")
