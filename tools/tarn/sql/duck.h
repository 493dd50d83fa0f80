/*
 * duck.h - DuckDB as a second engine for the relations of a trace.
 *
 * Its library is no part of Tarn: `make duckdb` fetches it, and it is loaded when it is asked for, from
 * $TARN_DUCKDB or from duckdb/ beside the program's directory. Each relation is
 * a table function of DuckDB, and its name alone calls it. Only the columns that a query uses are computed.
 * Named parameters: `model := true` adds the columns that need the model, `SELECT *` has none of them
 * otherwise; columns that tell a relation what to do are parameters, too. One thread executes everything,
 * because the readers of a trace are for one.
 */
#pragma once

#include <tools/tarn/sql/database.h>

struct duck; /* a database of DuckDB, and a connection to it */

struct duck *duck_open(struct fail *fail); /* NULL: FAIL */
void duck_close(struct duck *duck);        /* or NULL */
/* The relations of DATABASE, which lives longer, become table functions. */
bool duck_relations(struct duck *duck, struct database *database, struct fail *fail);
/* Executes a statement. PRINT (or NULL) gets its rows, if it has columns. */
bool duck_run(struct duck *duck, const char *sql, void (*print)(void *context, struct answer *answer),
              void *context, struct fail *fail);
/* Ends a query early; for signal handlers. */
void duck_stop(struct duck *duck);
