/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv.c - a directory with one file for each table that has rows (tables.h).
 *
 * The files are comma-separated values as in RFC 4180: the first line has the names of the columns, and
 * texts with commas, quotes or line ends are quoted. Addresses and masks are hexadecimal, unknown values
 * empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tools/tarn/export/tables.h>
#include <tools/tarn/out.h>
#include <unistd.h>

struct csv {
    struct tables tables;
    struct out **files; /* by table; NULL: no row yet */
};

static bool make_directory(struct tables *tables, struct fail *fail)
{
    struct csv *csv = EXPORT_OF(tables, struct csv);

    csv->files = arena_alloc(&tables->export.analysis.arena, tables->catalog.count * sizeof(csv->files[0]));
    if (mkdir(tables->export.output, 0777) != 0)
        return fail_set(fail, "cannot create the directory '%s': %s", tables->export.output, strerror(errno));
    return true;
}

static void put_csv_text(struct out *out, const char *text, size_t length)
{
    char *at = out_reserve(out, 2 * length + 2);
    bool is_plain = true;

    for (size_t i = 0; i < length; i++)
        is_plain &= text[i] != ',' && text[i] != '"' && text[i] != '\n' && text[i] != '\r';
    if (is_plain) {
        out_commit(out, put_bytes(at, text, length));
        return;
    }
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    out_commit(out, at);
}

static void put_csv_value(struct out *out, const struct value *value)
{
    char *at;

    if (value->kind == VALUE_TEXT) {
        put_csv_text(out, value->text, value->length);
        return;
    }
    at = out_reserve(out, PUT_NUMBER_MAX);
    if (value->kind == VALUE_SIGNED)
        at = put_signed(at, (int64_t)value->number);
    else if (value->kind == VALUE_HEX)
        at = put_hex(at, value->number, hex_lower);
    else if (value->kind == VALUE_UNSIGNED)
        at = put_unsigned(at, value->number);
    out_commit(out, at);
}

static void put_char(struct out *out, char c)
{
    char *at = out_reserve(out, 1);

    *at++ = c;
    out_commit(out, at);
}

#define CSV_PATH_BYTES 4096

static const char *table_path(const struct csv *csv, const struct relation *table, char path[CSV_PATH_BYTES])
{
    snprintf(path, CSV_PATH_BYTES, "%s/%s.csv", csv->tables.export.output, table->name);
    return path;
}

static struct out *open_table(struct csv *csv, const struct relation *table)
{
    struct export *export = &csv->tables.export;
    char path[CSV_PATH_BYTES];
    struct out *out;
    int fd;

    if (strchr(table->name, '/') != NULL) {
        export_fail(export, "event '%s': its name cannot be a file name", table->name);
        return NULL;
    }
    fd = open(table_path(csv, table, path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        export_fail(export, "cannot write '%s': %s", path, strerror(errno));
        return NULL;
    }
    out = arena_alloc(&export->analysis.arena, sizeof(*out));
    out_open(out, fd, 0);
    for (unsigned c = 0; c < table->column_count; c++) {
        if (c != 0)
            put_char(out, ',');
        put_csv_text(out, table->columns[c].name, strlen(table->columns[c].name));
    }
    put_char(out, '\n');
    return out;
}

static void write_line(struct tables *tables, unsigned number, const struct value *values)
{
    struct csv *csv = EXPORT_OF(tables, struct csv);
    const struct relation *table = &tables->catalog.relations[number];
    struct out *out = csv->files[number];

    if (out == NULL)
        out = csv->files[number] = open_table(csv, table);
    if (out == NULL)
        return;
    for (unsigned c = 0; c < table->column_count; c++) {
        if (c != 0)
            put_char(out, ',');
        put_csv_value(out, &values[c]);
    }
    put_char(out, '\n');
    if (out->failed)
        export_fail(&tables->export, "cannot write '%s/%s.csv': %s", tables->export.output, table->name,
                    strerror(errno));
}

static void finish_files(struct tables *tables)
{
    struct csv *csv = EXPORT_OF(tables, struct csv);
    char path[CSV_PATH_BYTES];

    for (unsigned i = 0; i < tables->catalog.count; i++)
        if (csv->files[i] != NULL)
            export_close_file(&tables->export, csv->files[i],
                              table_path(csv, &tables->catalog.relations[i], path));
}

static void close_files(struct tables *tables)
{
    struct csv *csv = EXPORT_OF(tables, struct csv);

    for (unsigned i = 0; csv->files != NULL && i < tables->catalog.count; i++)
        if (csv->files[i] != NULL)
            export_close_file(&tables->export, csv->files[i], NULL);
}

static const struct table_writer writer = {make_directory, write_line, finish_files, close_files};

static bool open_csv(struct analysis *analysis, struct fail *fail)
{
    return tables_open(EXPORT_OF(analysis, struct tables), &writer, fail);
}

const struct analysis_kind csv_export = {.name = "csv",
                                         .chooses_events = true,
                                         .size = sizeof(struct csv),
                                         .uses_symbols = true,
                                         .open = open_csv,
                                         .finish = tables_finish,
                                         .close = tables_close};
