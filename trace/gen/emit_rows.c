/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/gen/emit_rows.c - writes what is made from tables of counters (trace/format/table.h):
 *
 *     <trace/tables.h>         the rows as C structures, and the functions that find them
 *     trace/events.[ch]        constants, and the tables as data, for readers (emit_table.c calls)
 *     the metadata             a comment with their layout, which is also hashed (emit_tsdl.c, hash.c)
 *     docs/events.md           their reference (emit_docs.c)
 */
#include "model.h"

#include <string.h>

#define PAGE_BYTES 4096u

static const char *const kind_names[] = {"key", "count", "sum", "max", "histogram"};

static uint64_t tables_bytes(const struct schema *schema)
{
    if (schema->table_count == 0)
        return 0;
    const uint64_t end = end_of_tables(schema) + TRACE_TABLES_TAIL_WORDS * 8;
    return (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static const char *unit_or(const struct column *column, const char *none)
{
    return *column->unit ? column->unit : none;
}

/* ---- metadata --------------------------------------------------------------------------------------- */

/* FORMAT.md, "Tables". Begins with TRACE_TABLES_BEGIN of metadata.h. */
void emit_tables_tsdl(FILE *out, const struct schema *schema, bool has_text)
{
    if (schema->table_count == 0)
        return;
    fprintf(out, "/* tables: name number offset rows row_words form text, then its words: kind name unit "
                 "word words\n");
    for (unsigned i = 0; i < schema->table_count; i++) {
        const struct table *table = &schema->tables[i];
        fprintf(out, " * table %s %u %u %u %u %s%s%s%s%s\n", table->name, table->number, table->offset,
                table->rows, table->row_words, table->is_hashed ? "hashed" : "direct",
                table->adds_name ? "+" : "", table->adds_name ? table->adds_name : "", has_text ? " " : "",
                has_text ? table->description : "");
        for (unsigned c = 0; c < table->column_count; c++) {
            const struct column *column = &table->columns[c];
            fprintf(out, " *  %s %s %s %u %u\n", kind_names[column->kind], column->name,
                    column->is_hex ? "hex" : unit_or(column, "-"), column->word, column->words);
        }
    }
    fprintf(out, " * moves %u %llu\n */\n", TRACE_TABLE_MOVES_BEGUN * 8u,
            (unsigned long long)end_of_tables(schema));
}

/* ---- C for writers ---------------------------------------------------------------------------------- */

static void emit_struct(FILE *out, const struct table *table)
{
    fprintf(out, "\n/* %s */\nstruct trace_%s_row {\n    uint64_t begun, tag;\n", table->description,
            table->name);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        fprintf(out, "    uint64_t %s%s; /* %s%s%s */\n", column->name,
                column->kind == TRACE_COLUMN_HISTOGRAM ? "[TRACE_TABLE_BUCKETS]" : "", column->description,
                *column->unit ? ", " : "", column->unit);
    }
    fprintf(out,
            "    uint64_t ended;\n};\n_Static_assert(sizeof(struct trace_%s_row) == %u, \"no padding\");\n",
            table->name, table->row_words * 8);
}

/* The place of the table: arguments of trace_table_find() and trace_table_index(). */
static void emit_place(FILE *out, const struct table *table)
{
    fprintf(out, "ring, %u, %u, %u", table->offset, table->rows, table->row_words);
}

static void emit_key_arguments(FILE *out, const struct table *table)
{
    for (unsigned i = 0; i < table->key_count; i++)
        fprintf(out, ", uint%u_t %s", table->columns[i].key_bytes * 8, table->columns[i].name);
}

static void emit_keys(FILE *out, const struct table *table)
{
    fprintf(out, "    const uint64_t keys[] = {");
    for (unsigned i = 0; i < table->key_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", table->columns[i].name);
    fprintf(out, "};\n");
}

static void emit_find_hashed(FILE *out, const struct table *table)
{
    fprintf(out, "static inline struct trace_%s_row *trace_%s_row(char *ring", table->name, table->name);
    emit_key_arguments(out, table);
    fprintf(out, ")\n{\n");
    emit_keys(out, table);
    fprintf(out, "    return (struct trace_%s_row *)trace_table_find(", table->name);
    emit_place(out, table);
    fprintf(out, ", keys, %u);\n}\n", table->key_count);
}

/* For programs: what is known is compared here, the rest is a call. */
static void emit_find_again(FILE *out, const struct table *table)
{
    fprintf(out,
            "/* The same, if `places` know where; else NULL. */\n"
            "static inline struct trace_%s_row *trace_%s_row_known(char *ring",
            table->name, table->name);
    emit_key_arguments(out, table);
    fprintf(out,
            ", struct trace_places *places)\n{\n    struct trace_%s_row *row =\n"
            "        (struct trace_%s_row *)trace_table_known(",
            table->name, table->name);
    emit_place(out, table);
    fprintf(out, ", places, %s);\n    return row", table->columns[0].name);
    for (unsigned i = 0; i < table->key_count; i++)
        fprintf(out, " &&\n                   __atomic_load_n(&row->%s, __ATOMIC_RELAXED) == %s",
                table->columns[i].name, table->columns[i].name);
    fprintf(out,
            "\n               ? row\n               : NULL;\n}\n"
            "/* The same, and `places` will know. */\n"
            "static inline struct trace_%s_row *trace_%s_row_again(char *ring",
            table->name, table->name);
    emit_key_arguments(out, table);
    fprintf(out, ", struct trace_places *places)\n{\n");
    emit_keys(out, table);
    fprintf(out, "    return (struct trace_%s_row *)trace_table_find_again(", table->name);
    emit_place(out, table);
    fprintf(out, ", keys, %u, places);\n}\n", table->key_count);
}

static void emit_find_direct(FILE *out, const struct table *table)
{
    fprintf(out, "static inline struct trace_%s_row *trace_%s_row(char *ring", table->name, table->name);
    emit_key_arguments(out, table);
    fprintf(out, ")\n{\n    return (struct trace_%s_row *)trace_table_index(", table->name);
    emit_place(out, table);
    fprintf(out, ", %s);\n}\n", table->columns[0].name);
}

static void emit_find(FILE *out, const struct table *table)
{
    fprintf(out, "\n/* NULL: %s, or there are no tables (yet). */\n",
            table->is_hashed ? "no row may be taken, which is counted"
                             : "there is no such row, which is counted");
    if (!table->is_hashed) {
        emit_find_direct(out, table);
        return;
    }
    emit_find_hashed(out, table);
    emit_find_again(out, table);
    fprintf(out, "static inline uint64_t *trace_%s_head(char *ring)\n{\n    return trace_table_head(",
            table->name);
    emit_place(out, table);
    fprintf(out, ");\n}\n");
}

void emit_tables_header(FILE *out, const struct schema *schema)
{
    fprintf(out,
            "/* SPDX-License-Identifier: BSD-2-Clause */\n/* %s from trace/schema. Tables of counters: see "
            "trace/ring/table.h. */\n#ifndef TRACE_TABLES_H\n#define TRACE_TABLES_H\n\n"
            "#include <trace/ring/table.h>\n",
            generated_note);
    for (unsigned i = 0; i < schema->table_count; i++) {
        emit_struct(out, &schema->tables[i]);
        emit_find(out, &schema->tables[i]);
    }
    fprintf(out, "\n#endif\n");
}

/* ---- C for readers ---------------------------------------------------------------------------------- */

void emit_table_constants(FILE *out, const struct schema *schema)
{
    fprintf(out,
            "/* tables of counters (trace/format/table.h): their number, and bytes of each CPU's, whole "
            "pages */\n"
            "#define TRACE_TABLE_COUNT %uu\n#define TRACE_TABLES_BYTES %lluu\n",
            schema->table_count, (unsigned long long)tables_bytes(schema));
    for (unsigned i = 0; i < schema->table_count; i++)
        fprintf(out, "#define TRACE_TABLE_%s %uu\n", upper_case(schema->tables[i].name), i);
    fprintf(out, "/* by number; the last one has no name */\n"
                 "extern const struct trace_table_info trace_table_list[TRACE_TABLE_COUNT + 1];\n\n");
}

static void emit_columns(FILE *out, const struct table *table)
{
    fprintf(out, "\nstatic const struct trace_column_info columns_%s[] = {\n", table->name);
    for (unsigned i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        fprintf(out, "    {\"%s\", \"%s\", \"%s\", TRACE_COLUMN_%s, %d, %u, %u, %d},\n", column->name,
                column->description, column->unit, upper_case(kind_names[column->kind]), column->is_hex,
                column->word, column->words, column->owner);
    }
    fprintf(out, "};\n");
}

void emit_table_list(FILE *out, const struct schema *schema)
{
    for (unsigned i = 0; i < schema->table_count; i++)
        emit_columns(out, &schema->tables[i]);
    fprintf(out, "\nconst struct trace_table_info trace_table_list[TRACE_TABLE_COUNT + 1] = {\n");
    for (unsigned i = 0; i < schema->table_count; i++) {
        const struct table *table = &schema->tables[i];
        fprintf(out, "    {\"%s\", \"%s\", %u, %u, %u, %u, %d, %u, %u, columns_%s", table->name,
                table->description, i, table->offset, table->rows, table->row_words, table->is_hashed,
                table->key_count, table->column_count, table->name);
        if (table->adds_name)
            fprintf(out, ", &trace_table_list[%u], %u", table->adds, table->adds_key);
        else
            fprintf(out, ", 0, 0");
        fprintf(out, ", %llu},\n", (unsigned long long)end_of_tables(schema));
    }
    fprintf(out, "    {0},\n};\n");
}

/* ---- reference -------------------------------------------------------------------------------------- */

static void emit_column_docs(FILE *out, const struct column *column)
{
    fprintf(out, "| %u", column->word);
    if (column->words > 1)
        fprintf(out, "–%u", column->word + column->words - 1);
    fprintf(out, " | %s | `%s` | %s | %s |\n", kind_names[column->kind], column->name, unit_or(column, ""),
            column->description);
}

void emit_tables_docs(FILE *out, const struct schema *schema)
{
    if (schema->table_count == 0)
        return;
    fprintf(
        out,
        "## Tables of counters\n\nBeside each CPU's ring, %llu KiB. trace/format/FORMAT.md, \"Tables\", has "
        "the layout. `trace tables` prints them in the guest.\n\n",
        (unsigned long long)tables_bytes(schema) >> 10);
    for (unsigned i = 0; i < schema->table_count; i++) {
        const struct table *table = &schema->tables[i];
        fprintf(out, "### `%s` (table %u)\n\n%s. %u rows of %u words, %s; at byte %u. Declared in `%s`.",
                table->name, table->number, table->description, table->rows, table->row_words,
                table->is_hashed ? "hashed" : "direct", table->offset, table->file);
        if (table->adds_name)
            fprintf(out, " Readers add the rows of `%s` with the same `%s`.", table->adds_name,
                    table->columns[0].name);
        fprintf(out, "\n\n");
        fprintf(out, "| word | kind | column | unit | meaning |\n|---|---|---|---|---|\n");
        for (unsigned c = 0; c < table->column_count; c++)
            emit_column_docs(out, &table->columns[c]);
        fprintf(out, "\n");
    }
}
