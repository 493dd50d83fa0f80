/*
 * view.h - analyses that are written in SQL: analysis/NAME.sql, and a user's own in ~/.config/tarn.
 *
 * relation/README.md says how to write one. What precedes the first table runs before the walk and makes
 * folds (sql/fold.c), which count during the walk. Afterwards each SELECT fills its table. So an analysis in
 * SQL is an analysis like others: it works in a walk that others share, on a growing trace, for a part of
 * one.
 */
#pragma once

#include <sqlite3.h>
#include <tools/tarn/analysis/analysis.h>

/* Returns the analysis that TEXT declares, to be kept until the program ends; NULL: FAIL. SHARED has
 * definitions for all. */
const struct analysis_kind *sql_analysis(const char *text, const char *shared, struct fail *fail);

/* What an analysis without statements does: nothing. Trace, model and filter are valid. */
bool sql_open(struct analysis *analysis, struct fail *fail);
void sql_finish(struct analysis *analysis); /* after the walk, with a valid model: fills the tables */
/* Prints what an option requests instead of the tables (IS_ALL). */
bool sql_print(struct analysis *analysis, FILE *to, bool *is_all, struct fail *fail);
void sql_close(struct analysis *analysis); /* also if it was not opened */
/* A column of the statement's row, as a cell of COLUMN of the table. */
union table_cell sql_cell(struct table *table, const struct table_column *column, sqlite3_stmt *statement,
                          int at);
