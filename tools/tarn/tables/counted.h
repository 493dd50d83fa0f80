/* counted.h - the rows of a table of counters, added over CPUs or threads, at one moment or between two. */
#pragma once

#include <tools/tarn/tables/moment.h>

/* A largest or smallest value that is not known to belong to the interval: no more extreme one occurred. */
#define COUNTED_UNKNOWN UINT64_MAX

struct counted_row {
    uint32_t part;      /* CPU, or number of the table of routines; of the first one, if several were added */
    uint64_t under_way; /* updates that the row has only in part, or not at all */
    uint64_t words[];   /* as in memory */
};

struct counted {
    struct counted_row **rows; /* in ascending order of keys and parts */
    size_t count, size;
    uint64_t damaged; /* rows that were left out */
    uint64_t no_row;  /* updates that found no row */
    /* of routines: lives of the threads, what of these they ran, and how many threads there are */
    uint64_t life, ran, threads;
    bool is_moving; /* rows may be there twice, or not at all (moment.h) */
    struct arena arena;
};

/* Collects the rows of TABLE. BEFORE: an earlier moment, whose counts are subtracted (rows without
 * change are left out); or NULL. BY_PART: rows of different CPUs, or tables of routines, are not added. */
void counted_collect(struct counted *counted, const struct trace_table_info *table, const struct moment *now,
                     const struct moment *before, bool by_part);
/* Reports missing counts on standard error. */
void counted_complain(const struct counted *counted, const struct trace_table_info *table);
void counted_free(struct counted *counted);

/* log_rows.c: adds the declarations of events to metadata; reads all tables of SOURCE, and writes their rows
 * behind everything else in the trace. False: FAIL. */
struct buffer;
struct trace_writer;
void declare_rows(struct buffer *metadata);
bool log_rows(struct trace_writer *writer, struct source *source, struct fail *fail);
