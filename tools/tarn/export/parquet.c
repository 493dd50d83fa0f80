/* SPDX-License-Identifier: BSD-2-Clause */
/* parquet.c - Parquet files, which DuckDB writes from its table functions (sql/duck.h); see tables.h. */
#include <errno.h>
#include <sys/stat.h>
#include <tools/tarn/export/tables.h>
#include <tools/tarn/sql/duck.h>

/* Adds a name or text in quotes. Event names come from the trace and may contain anything. */
static void add_quoted(struct buffer *sql, const char *text, char mark)
{
    for (; *text != '\0'; text++) {
        if (*text == mark)
            buffer_add(sql, &mark, 1);
        buffer_add(sql, text, 1);
    }
    buffer_add(sql, &mark, 1);
}

static bool write_relation(struct duck *duck, const struct relation *relation, const char *directory,
                           struct fail *fail)
{
    struct buffer sql = {0}, path = {0};
    bool ok;

    if (strchr(relation->name, '/') != NULL)
        return fail_set(fail, "event '%s': its name cannot be a file name", relation->name);
    buffer_text(&path, directory);
    buffer_text(&path, "/");
    buffer_text(&path, relation->name);
    buffer_add(&path, ".parquet", sizeof(".parquet"));
    buffer_text(&sql, "COPY (SELECT * FROM \"");
    add_quoted(&sql, relation->name, '"');
    buffer_text(&sql, ") TO '");
    add_quoted(&sql, (const char *)path.bytes, '\'');
    buffer_add(&sql, " (FORMAT parquet, COMPRESSION zstd)", sizeof(" (FORMAT parquet, COMPRESSION zstd)"));
    ok = duck_run(duck, (const char *)sql.bytes, NULL, NULL, fail);
    free(sql.bytes);
    free(path.bytes);
    return ok;
}

bool parquet_export(const struct scan_source *source, const char *output, struct fail *fail)
{
    struct duck *duck = duck_open(fail);
    struct database database;
    bool ok = duck != NULL;

    if (ok && mkdir(output, 0777) != 0)
        ok = fail_set(fail, "cannot create the directory '%s': %s", output, strerror(errno));
    if (!ok) {
        duck_close(duck);
        return false;
    }
    ok = database_open(&database, source, fail) && duck_relations(duck, &database, fail) &&
         database_final(&database) != NULL; /* this walk reports what is lost; others need not do it again */
    database.source.reporter = NULL;
    for (unsigned i = 0; i < database.catalog.count && ok; i++)
        ok = write_relation(duck, &database.catalog.relations[i], output, fail);
    duck_close(duck);
    database_close(&database);
    return ok;
}
