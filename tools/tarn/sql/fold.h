/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold.h - the virtual table `fold`: groups of rows of a relation, counted while the trace is read.
 *
 *   CREATE VIRTUAL TABLE use USING fold(activity, where kind = syscall, by detail, by utid, keep name, count,
 *       sum self_dur, sum is_error as errors, spread dur as whole unless is_cut)
 *
 * SQLite would sort all rows to group them, and read the trace once for each table. Folds use a hash table,
 * and one walk fills all of them. The terms:
 *
 *   - `where COLUMN = WORD`, `> WORD`, `glob WORD`, `word WORD` (a pattern for all of it or its last word),
 *     `in WORD...`: only rows with this value; all such terms must hold. WORD is :OPTION for the value of an
 *     option; if that is not given, the term holds.
 *   - `times COLUMN`: each row counts as so many.
 *   - `by COLUMN`: one group for each value; any number of them.
 *   - `keep COLUMN`: its value in the first row of the group.
 *   - `count`: the number of rows.
 *   - `sum COLUMN`: durations add up in the clock's ticks, which ns() converts.
 *   - `max COLUMN`: the largest value, of a duration in ticks, too.
 *   - `at COLUMN`: its value in the row with the largest value of the `max` before.
 *   - `spread COLUMN`: the distribution of a duration, for percentile(), mean(), together().
 *   - `top N COLUMN`: no groups, but the N rows with the largest values, largest first, with the columns that
 *     `keep` and `sum` (in ticks) name.
 *
 * `as NAME` names a column; sum, max, spread and top may end in `unless COLUMN`: rows where that is 0. Memory
 * is limited (map.h): the rest is one group whose `by` columns are NULL.
 */
#ifndef TARN_FOLD_H
#define TARN_FOLD_H

#include <tools/tarn/sql/rows.h>

#define FOLD_TERMS  24u
#define FOLD_WORDS  8u
#define FOLD_RECENT 256u

enum fold_term_kind {
    TERM_WHERE,
    TERM_TIMES,
    TERM_BY,
    TERM_KEEP,
    TERM_COUNT,
    TERM_SUM,
    TERM_MAX,
    TERM_AT,
    TERM_SPREAD,
    TERM_TOP
};

enum fold_sign { WHERE_EQUAL, WHERE_IN, WHERE_GLOB, WHERE_WORD, WHERE_ABOVE };

struct fold_term {
    enum fold_term_kind kind;
    const struct relation_column *column; /* NULL: TERM_COUNT */
    const struct relation_column *unless; /* or NULL */
    const char *name;
    const char *words[FOLD_WORDS]; /* of TERM_WHERE */
    int64_t numbers[FOLD_WORDS];   /* the same as numbers */
    unsigned word_count;
    enum fold_sign sign;
    unsigned cell; /* place in a row; TERM_WHERE, TERM_TIMES and TERM_TOP have none */
};

union fold_cell {
    struct value value; /* its text is in the fold's arena */
    struct holder *holder;
};

struct fold_row {
    bool is_used;
    uint64_t rank, begin; /* of TERM_TOP */
    union fold_cell cells[];
};

struct fold {
    struct relation_sink sink;
    struct database *database;
    struct fold *next;
    struct fold_term terms[FOLD_TERMS];
    unsigned term_count, cell_count;
    unsigned first[TERM_TOP + 2]; /* by kind: terms are sorted by it */
    struct map groups;
    struct fold_recent {
        uint64_t key[MAP_KEYS];
        struct fold_row *row;
    } recent[FOLD_RECENT];                   /* groups, by hash of the key */
    struct fold_row **top;                   /* of TERM_TOP */
    uint64_t top_size, top_count, threshold; /* threshold: smaller ranks are not kept any more */
    struct arena arena;
    bool is_filled;
};

#endif
