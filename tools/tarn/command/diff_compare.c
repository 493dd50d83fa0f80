/*
 * diff_compare.c - finds changes between the tables of two sides; see diff.h.
 *
 * The columns of A's tables become rows of an SQLite database, from which analysis/diff_columns.sql chooses.
 * Then the cells of these columns do, which analysis/diff.sql joins and makes tables of changes of.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/t_test.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/sql/view.h>

#define NAME_BYTES 512u

/* ---- the database ---- */

static void add_chance(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    struct sample samples[2];
    for (unsigned side = 0; side < 2; side++, argv += 3)
        samples[side] = (struct sample){(unsigned)sqlite3_value_int(argv[0]), sqlite3_value_double(argv[1]),
                                        sqlite3_value_double(argv[2])};
    sqlite3_result_double(context, chance_of(samples[0], samples[1]));
}

/* The statement is freed. */
static bool run(sqlite3 *sqlite, char *sql)
{
    bool ok = sqlite3_exec(sqlite, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    return ok;
}

/* Returns the only row of QUERY; NULL: it has none, or failed. The caller finalizes it. */
static sqlite3_stmt *ask(sqlite3 *sqlite, const char *query)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(sqlite, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

static int64_t number_of(sqlite3 *sqlite, const char *query)
{
    sqlite3_stmt *statement = ask(sqlite, query);
    int64_t number = statement != NULL ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return number;
}

/* ---- columns ---- */

/* Describes the columns of a table, from which analysis/diff_columns.sql chooses. */
static bool describe(const struct diff *diff, sqlite3 *sqlite, unsigned analysis, unsigned number)
{
    const struct table *table = &diff->runs[0][0].analyses[analysis]->tables[number];
    bool ok = true;
    for (unsigned c = 0; ok && c < table->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        char heading[HEADING_BYTES];
        ok = run(sqlite,
                 sqlite3_mprintf(
                     "INSERT INTO shown VALUES (%u, %u, %u, '%q.%q', %Q, %Q, %Q, %d, %d, %d, %d, %d, %d, %d, "
                     "%d, %d)",
                     analysis, number, c, diff->analyses[analysis]->kind->name, table->key, table->others,
                     column->key, column_heading(column, heading), column->kind == COLUMN_COUNT,
                     column->kind == COLUMN_TIME, column->kind == COLUMN_REAL, column->kind == COLUMN_HEX,
                     (int)column->sum, table_order(table) == (int)c, table->is_whole,
                     table->columns == histogram_columns, diff_names_column(diff, table, (int)c)));
    }
    return ok;
}

/* Describes all wanted tables. */
static bool describe_all(const struct diff *diff, sqlite3 *sqlite)
{
    bool ok = true;
    for (unsigned i = 0; i < diff->count; i++)
        for (unsigned t = 0; ok && t < diff->analyses[i]->kind->table_count; t++)
            ok = !diff->runs[0][0].analyses[i]->tables[t].is_wanted || describe(diff, sqlite, i, t);
    return ok;
}

/* ---- the compared rows --- */

static void name_of(const struct table *table, const struct table_row *row, char name[NAME_BYTES])
{
    size_t used = (size_t)snprintf(name, NAME_BYTES, "%s", row->name);
    for (unsigned i = 0; i < table->column_count && used < NAME_BYTES; i++)
        if (table->columns[i].is_key && row->cells[i].text != NULL)
            used += (size_t)snprintf(name + used, NAME_BYTES - used, ", %s", row->cells[i].text);
}

static bool add_cells(const struct diff *diff, sqlite3_stmt *add, size_t number, unsigned side, unsigned run)
{
    const struct compared *compared = &diff->results[number];
    const struct table *table = &diff->runs[side][run].analyses[compared->analysis]->tables[compared->table];
    const struct table_column *column = &table->columns[compared->column];
    char name[NAME_BYTES];
    bool ok = true;
    for (size_t i = 0; ok && i < table->count; i++) {
        const union table_cell *cells = table->rows[i]->cells, cell = cells[compared->column];
        name_of(table, table->rows[i], name);
        sqlite3_clear_bindings(add);
        sqlite3_bind_int64(add, 1, (sqlite3_int64)number);
        sqlite3_bind_int64(add, 2, side);
        sqlite3_bind_int64(add, 3, run);
        sqlite3_bind_text(add, 4, name, -1, SQLITE_TRANSIENT);
        if (table_cell_is_known(column, cell) && column->kind == COLUMN_REAL)
            sqlite3_bind_double(add, 5, cell.real);
        else if (table_cell_is_known(column, cell))
            sqlite3_bind_int64(add, 5, cell.number);
        if (compared->work != WORK_UNIT)
            sqlite3_bind_int64(add, 6, compared->work == WORK_ROWS ? 1 : cells[compared->work].number);
        ok = sqlite3_step(add) == SQLITE_DONE;
        sqlite3_reset(add);
    }
    return ok;
}

static bool fill(const struct diff *diff, sqlite3 *sqlite)
{
    sqlite3_stmt *add = NULL;
    bool ok =
        sqlite3_prepare_v2(sqlite, "INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)", -1, &add, NULL) == SQLITE_OK;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned r = 0; r < diff->run_count[side]; r++) {
            ok = ok && run(sqlite, sqlite3_mprintf("INSERT INTO run VALUES (%u, %u, %.17g)", side, r,
                                                   diff->runs[side][r].unit));
            for (size_t i = 0; ok && i < diff->result_count; i++)
                ok = add_cells(diff, add, i, side, r);
        }
    sqlite3_finalize(add);
    return ok;
}

/* ---- the changes --------- */

/* Times are in nanoseconds. With one run on each side, there are no columns about noise. */
static void make_columns(const struct diff *diff, const struct compared *compared,
                         const struct table_column *from, struct table *result)
{
    enum { A, B, CHANGE, RATIO, SPREAD_A, SPREAD_B, CHANCE, VERDICT, COLUMNS };
    struct table_column *columns = arena_alloc(&result->arena, COLUMNS * sizeof(columns[0]));
    bool is_time = from->kind == COLUMN_TIME, has_spread = diff_has_several(diff);
    enum column_kind kind = is_time ? COLUMN_TIME : COLUMN_REAL,
                     change = is_time ? COLUMN_CHANGE : COLUMN_REAL;
    enum column_sum sum = from->sum == SUM_ADDED && compared->work == WORK_UNIT ? SUM_ADDED : SUM_NOTHING;
    const struct table_column made[COLUMNS] = {
        [A] = COLUMN_CALLED("A", is_time ? "a_ns" : "a", kind, sum),
        [B] = COLUMN_CALLED("B", is_time ? "b_ns" : "b", kind, sum),
        [CHANGE] = COLUMN_AS(is_time ? "change_ns" : "change", change, sum),
        [RATIO] = MEAN_COLUMN("ratio"),
        [SPREAD_A] =
            COLUMN_CALLED(has_spread ? "spread A %" : "", "spread_a_percent", COLUMN_REAL, SUM_NOTHING),
        [SPREAD_B] =
            COLUMN_CALLED(has_spread ? "spread B %" : "", "spread_b_percent", COLUMN_REAL, SUM_NOTHING),
        [CHANCE] = COLUMN_CALLED("", "chance", COLUMN_REAL, SUM_NOTHING),
        [VERDICT] = COLUMN_CALLED(has_spread ? NULL : "", "verdict", COLUMN_TEXT, SUM_NOTHING)};

    result->columns = memcpy(columns, made, sizeof(made));
    result->column_count = COLUMNS;
}

/* Makes an empty result for each column that is compared. */
static bool begin_results(struct diff *diff, sqlite3 *sqlite)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(
                  sqlite,
                  "SELECT analysis, table_number, column_number, divisor, key, heading FROM compared "
                  "ORDER BY number",
                  -1, &statement, NULL) == SQLITE_OK;
    while (ok && sqlite3_step(statement) == SQLITE_ROW) {
        struct compared compared = {.analysis = (unsigned)sqlite3_column_int(statement, 0),
                                    .table = (unsigned)sqlite3_column_int(statement, 1),
                                    .column = (unsigned)sqlite3_column_int(statement, 2),
                                    .work = sqlite3_column_int(statement, 3)};
        const struct table *table = &diff->runs[0][0].analyses[compared.analysis]->tables[compared.table];
        struct table *result = &compared.result;
        *result = (struct table){.others = table->others, .order = TABLE_AS_FILLED, .is_wanted = true};
        make_columns(diff, &compared, &table->columns[compared.column], result);
        result->key = table_text(result, (const char *)sqlite3_column_text(statement, 4));
        result->heading = table_text(result, (const char *)sqlite3_column_text(statement, 5));
        diff->results = alloc_more(diff->results, diff->result_count + 1, sizeof(diff->results[0]));
        diff->results[diff->result_count++] = compared;
    }
    sqlite3_finalize(statement);
    return ok;
}

/* Tells which tables that the user named cannot be compared. */
static void complain_of_tables(const struct diff *diff, sqlite3 *sqlite)
{
    sqlite3_stmt *statement =
        diff->by == NULL
            ? NULL
            : ask(sqlite, "SELECT group_concat(name || ' (' || reason || ')', ', ') FROM "
                          "(SELECT * FROM described WHERE reason NOTNULL ORDER BY analysis, table_number)");
    if (statement != NULL && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        complain("not compared: %s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
}

/* Fills TABLE: each row of the statement, which is freed, is a name and its cells. */
static bool fill_table(sqlite3 *sqlite, struct table *table, char *sql)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK;
    while (ok && sqlite3_step(statement) == SQLITE_ROW) {
        struct table_row *row = table_add(table, (const char *)sqlite3_column_text(statement, 0));
        for (unsigned c = 0; c < table->column_count; c++)
            row->cells[c] = sql_cell(table, &table->columns[c], statement, (int)c + 1);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return ok;
}

/* The largest changes of CPU time or, without it, of all times that add up. With several runs, only
 * significant ones. */
static bool fill_largest(struct diff *diff, sqlite3 *sqlite)
{
    static const struct table_column columns[] = {TEXT_COLUMN("in"), TIME_OF_ONE("a_ns"), TIME_OF_ONE("b_ns"),
                                                  COLUMN_AS("change_ns", COLUMN_CHANGE, SUM_NOTHING),
                                                  MEAN_COLUMN("ratio")};
    bool has_processor = number_of(sqlite, "SELECT max(is_of_processor) FROM compared") != 0;
    diff->largest = (struct table)TABLE("largest", "largest changes", "changes", columns);
    if (has_processor)
        diff->largest.heading = "largest changes of CPU time";
    return fill_table(
        sqlite, &diff->largest,
        sqlite3_mprintf("SELECT name, key, a, b, change, ratio FROM ranked JOIN compared USING (number) "
                        "JOIN setting WHERE is_time AND place <= %u AND is_of_processor >= %d "
                        "AND (NOT is_several OR verdict = 'significant') "
                        "ORDER BY abs(change) DESC, number, place",
                        DIFF_TEXT_TOP, has_processor));
}

static bool fill_results(struct diff *diff, sqlite3 *sqlite)
{
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < diff->result_count; i++) {
        char *select = sqlite3_mprintf("SELECT count(*) FROM compared WHERE number = %d", (int)i);
        bool is_kept = number_of(sqlite, select) != 0;
        sqlite3_free(select);
        if (!is_kept) {
            table_free(&diff->results[i].result);
            continue;
        }
        ok = fill_table(
            sqlite, &diff->results[i].result,
            sqlite3_mprintf("SELECT name, a, b, change, ratio, spread_a, spread_b, chance, verdict "
                            "FROM ranked WHERE number = %d ORDER BY place",
                            (int)i));
        diff->results[kept++] = diff->results[i];
    }
    diff->result_count = kept;
    diff->judged = (size_t)number_of(sqlite, "SELECT count(chance) FROM changed");
    diff->significant =
        (size_t)number_of(sqlite, "SELECT count(*) FROM ranked WHERE verdict = 'significant'");
    return ok;
}

bool diff_compare(struct diff *diff, struct fail *fail)
{
    sqlite3 *sqlite = NULL;
    bool ok =
        sqlite3_open(":memory:", &sqlite) == SQLITE_OK &&
        sqlite3_create_function(sqlite, "chance", 6, SQLITE_UTF8, NULL, add_chance, NULL, NULL) ==
            SQLITE_OK &&
        run(sqlite,
            sqlite3_mprintf("BEGIN; CREATE TABLE setting AS SELECT %.17g AS threshold, %.17g AS least, "
                            "%d AS is_several, %d AS has_choice, %d AS has_columns, %d AS by_work;"
                            "CREATE TABLE shown (analysis, table_number, place, name, others, key, heading, "
                            "is_count, is_time, is_real, is_hex, sum, is_order, is_whole, is_histogram, "
                            "is_named); CREATE TABLE run (side, run, unit); "
                            "CREATE TABLE cell (number, side, run, name, value, work)",
                            diff->threshold, diff->least, diff_has_several(diff),
                            diff->by != NULL || diff->columns != NULL, diff->columns != NULL,
                            diff->per == PER_WORK)) &&
        describe_all(diff, sqlite) && run(sqlite, sqlite3_mprintf("%s", analysis_sql("diff_columns"))) &&
        begin_results(diff, sqlite);
    if (ok)
        complain_of_tables(diff, sqlite);
    ok = ok && fill(diff, sqlite) && run(sqlite, sqlite3_mprintf("%s", analysis_sql("diff"))) &&
         fill_results(diff, sqlite) && fill_largest(diff, sqlite);
    if (!ok)
        fail_set(fail, "SQLite: %s", sqlite3_errmsg(sqlite));
    sqlite3_close(sqlite);
    return ok;
}
