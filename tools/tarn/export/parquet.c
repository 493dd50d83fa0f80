/* SPDX-License-Identifier: BSD-2-Clause */
/* parquet.c - Parquet files, which DuckDB writes from its table functions (sql/duck.h); see export.h. */
#include <errno.h>
#include <sys/stat.h>
#include <tools/tarn/export/export.h>
#include <tools/tarn/sql/duck.h>

/* Event names come from the trace and may contain anything. */
static bool write_relation(struct duck *duck, const struct relation *relation, const char *directory,
                           struct fail *fail)
{
    if (strchr(relation->name, '/') != NULL)
        return fail_set(fail, "event '%s': its name cannot be a file name", relation->name);
    char *path = sqlite3_mprintf("%s/%s.parquet", directory, relation->name);
    char *sql = sqlite3_mprintf("COPY (SELECT * FROM \"%w\") TO %Q (FORMAT parquet, COMPRESSION zstd)",
                                relation->name, path);
    bool ok = duck_run(duck, sql, NULL, NULL, fail);

    sqlite3_free(sql);
    sqlite3_free(path);
    return ok;
}

bool export_parquet(const struct scan_source *source, const char *output, const char **nothing,
                    struct fail *fail)
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
