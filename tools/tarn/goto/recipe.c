/* recipe.c - reads the recipe of a run and compares it with the trace; see recipe.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <tools/tarn/goto/recipe.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/read.h>
#include <unistd.h>

#define VERSION     2 /* as in tools/recipe.py */
#define HASH_DIGITS 16

/* Return a column of the row; clear *FINE if it has another type. */
static const char *take_text(struct recipe *recipe, sqlite3_stmt *row, int column, bool *ok)
{
    *ok &= sqlite3_column_type(row, column) == SQLITE_TEXT;
    const char *text = (const char *)sqlite3_column_text(row, column);
    return arena_string(&recipe->arena, text ? text : "", text ? strlen(text) : 0);
}

static uint64_t take_number(sqlite3_stmt *row, int column, bool *ok)
{
    *ok &= sqlite3_column_type(row, column) == SQLITE_INTEGER;
    return (uint64_t)sqlite3_column_int64(row, column);
}

/* Runs a query on the JSON text up to its first row; returns NULL if it has none. */
static sqlite3_stmt *ask(sqlite3 *database, const char *query, const char *json)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(database, query, -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, json, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        return row;
    sqlite3_finalize(row);
    return NULL;
}

static bool take_values(struct recipe *recipe, sqlite3 *database, const char *json)
{
    sqlite3_stmt *row = ask(database,
                            "SELECT ?1->>'version', ?1->>'seed', ?1->>'processors', ?1->>'arch',"
                            " ?1->>'memory', ?1->>'options', ?1->>'emulator', ?1->>'$.kernel.path',"
                            " ?1->>'$.kernel.sha256', ?1->>'$.archive.path', ?1->>'$.archive.sha256',"
                            " ?1->>'$.library.path', ?1->>'$.library.sha256'",
                            json);
    const char **const texts[] = {&recipe->arch,          &recipe->memory,         &recipe->options,
                                  &recipe->emulator,      &recipe->kernel.path,    &recipe->kernel.sha256,
                                  &recipe->archive.path,  &recipe->archive.sha256, &recipe->library.path,
                                  &recipe->library.sha256};
    bool ok = row != NULL;
    if (ok) {
        recipe->version = take_number(row, 0, &ok);
        recipe->seed = take_number(row, 1, &ok);
        recipe->processors = take_number(row, 2, &ok);
        for (int i = 0; i < (int)(sizeof(texts) / sizeof(texts[0])); i++)
            *texts[i] = take_text(recipe, row, 3 + i, &ok);
    }
    sqlite3_finalize(row);
    return ok && recipe->version == VERSION;
}

static bool take_command(struct recipe *recipe, sqlite3 *database, const char *json)
{
    sqlite3_stmt *row = ask(database, "SELECT value FROM json_each(?1, '$.command')", json);
    bool ok = row != NULL;
    if (row == NULL)
        return false;
    do {
        recipe->command = alloc_more(recipe->command, recipe->command_count + 2, sizeof(recipe->command[0]));
        recipe->command[recipe->command_count++] = take_text(recipe, row, 0, &ok);
        recipe->command[recipe->command_count] = NULL;
    } while (sqlite3_step(row) == SQLITE_ROW);
    sqlite3_finalize(row);
    return ok;
}

bool recipe_read(struct recipe *recipe, const char *directory, struct fail *fail)
{
    char path[4096];
    sqlite3 *database = NULL;
    size_t size;
    memset(recipe, 0, sizeof(*recipe));
    snprintf(path, sizeof(path), "%s/" TRACE_RECIPE_NAME, directory);
    char *json = file_read(AT_FDCWD, path, TRACE_RECIPE_BYTES_MAX, &size);
    if (json == NULL)
        return fail_set(fail, "%s: %s", path, strerror(errno));
    bool ok = sqlite3_open(":memory:", &database) == SQLITE_OK && take_values(recipe, database, json) &&
              take_command(recipe, database, json);
    sqlite3_close(database);
    free(json);
    return ok || fail_set(fail, "%s is not a recipe of version %d", path, VERSION);
}

void recipe_free(struct recipe *recipe)
{
    free(recipe->command);
    arena_free(&recipe->arena);
    memset(recipe, 0, sizeof(*recipe));
}

static bool is_same(const struct schema *schema, const char *name, const char *text, struct fail *why)
{
    const char *told = schema_env(schema, name, true);
    if (told == NULL)
        return fail_set(why, "the trace's metadata has no %s", name);
    return strcmp(told, text) == 0 ||
           fail_set(why, "the trace's %s is '%.200s', not '%.200s'", name, told, text);
}

static bool agrees(const struct recipe *recipe, const struct schema *schema, struct fail *why)
{
    /* the number in "QEMU emulator version 7.2.22 (Debian ...)" */
    const char *version = strstr(recipe->emulator, "version ");
    char text[512];
    version = version != NULL ? version + strlen("version ") : "";
    snprintf(text, sizeof(text),
             "kernel:%.*s,archive:%.*s,seed:%" PRIu64 ",processors:%" PRIu64 ",memory:%s,emulator:%.*s",
             HASH_DIGITS, recipe->kernel.sha256, HASH_DIGITS, recipe->archive.sha256, recipe->seed,
             recipe->processors, recipe->memory, (int)strcspn(version, " "), version);
    return is_same(schema, "architecture", recipe->arch, why) && is_same(schema, "recipe", text, why) &&
           is_same(schema, "boot_options", recipe->options, why);
}

enum recipe_state recipe_judge(const char *directory, const struct schema *schema, struct fail *why)
{
    struct recipe recipe;
    char path[4096];
    snprintf(path, sizeof(path), "%s/" TRACE_RECIPE_NAME, directory);
    if (access(path, F_OK) != 0)
        return RECIPE_NONE;
    bool ok = recipe_read(&recipe, directory, why) && agrees(&recipe, schema, why);
    recipe_free(&recipe);
    return ok ? RECIPE_AGREES : RECIPE_DIFFERS;
}

bool recipe_copy(const char *source, int directory_fd, struct fail *fail)
{
    char path[4096], *text;
    const char *file = strncmp(source, "ram:", 4) == 0    ? source + 4
                       : strncmp(source, "core:", 5) == 0 ? source + 5
                                                          : NULL;
    size_t size;
    if (file == NULL)
        return true;
    snprintf(path, sizeof(path), "%s.recipe", file);
    text = file_read(AT_FDCWD, path, TRACE_RECIPE_BYTES_MAX, &size);
    if (text == NULL)
        return errno == ENOENT || fail_set(fail, "%s: %s", path, strerror(errno));
    bool ok = output_write_file(directory_fd, TRACE_RECIPE_NAME, text, size) ||
              fail_set(fail, "cannot copy %s into the trace: %s", path, strerror(errno));
    free(text);
    return ok;
}
