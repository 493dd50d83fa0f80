/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ring/table_read.c - copies rows of tables, and adds all CPUs' rows; see table_read.h.
 * Freestanding.
 *
 * A key's row lies within TRACE_TABLE_PROBES rows of the same place in every CPU's table. So the rows of one
 * key are found without an index, and the walk needs no memory of visited keys: it visits a key at its first
 * row in order of CPU and place.
 */
#include <trace/format/layout.h>
#include <trace/ring/table_read.h>

#define READ_TRIES 8
#define SUM_TRIES  4   /* of a CPU's rows with a key */
#define MOVES_MAX  64u /* while a row is read; counts that differ by more are damaged */

static const uint64_t *head_of(const struct trace_table_info *table, const char *ring)
{
    return (const uint64_t *)(const void *)(ring + TRACE_TABLES_OFFSET + table->offset);
}

static const uint64_t *row_at(const struct trace_table_info *table, const char *ring, uint32_t row)
{
    return head_of(table, ring) + TRACE_TABLE_HEAD_WORDS + (uint64_t)row * table->row_words;
}

static uint64_t tag_of(const struct trace_table_info *table, const uint64_t *copy)
{
    return table->is_hashed ? trace_table_tag(&copy[TRACE_ROW_KEYS], table->key_count) : 1;
}

/* ---- moves ------------------------------------------------------------------------------------------ */

/* Before rows are read. */
static uint64_t moves_ended(const struct trace_table_info *table, const char *ring)
{
    const uint64_t *word = (const uint64_t *)(const void *)(ring + TRACE_TABLES_OFFSET + table->moves_ended);
    /* acquire: the rows are as these moves left them; pairs with the fence in trace_table_move() */
    return table->moves_ended ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
}

/* Afterwards. */
static uint64_t moves_begun(const struct trace_table_info *table, const char *ring)
{
    const uint64_t *word = (const uint64_t *)(const void *)(ring + TRACE_TABLES_OFFSET);
    /* the count has each move of which a word was read; pairs with the fence in begin_moves() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return table->moves_ended ? __atomic_load_n(&word[TRACE_TABLE_MOVES_BEGUN], __ATOMIC_RELAXED) : 0;
}

/* ---- one row ---------------------------------------------------------------------------------------- */

/* Whether the keys belong in this row. */
static bool keys_are_sound(const struct trace_table_info *table, uint32_t row, const uint64_t *copy)
{
    const uint64_t tag = copy[TRACE_ROW_TAG];
    if (tag != tag_of(table, copy))
        return false;
    if (!table->is_hashed)
        return copy[TRACE_ROW_KEYS] == row;
    return (row - tag) % table->rows < TRACE_TABLE_PROBES; /* rows: a power of two */
}

static void copy_row(const struct trace_table_info *table, const uint64_t *from, uint64_t *copy)
{
    const uint32_t last = table->row_words - 1;
    /* acquire: every counted update is in the copy; pairs with trace_row_end() */
    copy[last] = __atomic_load_n(&from[last], __ATOMIC_ACQUIRE);
    for (uint32_t i = TRACE_ROW_TAG; i < last; i++)
        copy[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    /* the count has each update of which a part is in the copy; pairs with trace_row_begin() */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy[TRACE_ROW_BEGUN] = __atomic_load_n(&from[TRACE_ROW_BEGUN], __ATOMIC_RELAXED);
}

enum trace_row_state trace_table_read_row(const struct trace_table_info *table, const char *ring,
                                          uint32_t row, uint64_t *copy)
{
    const uint64_t *from = row_at(table, ring, row);
    if (__atomic_load_n(&from[TRACE_ROW_TAG], __ATOMIC_RELAXED) == 0)
        return TRACE_ROW_FREE;
    uint64_t moved = 1;
    for (int i = 0; i < READ_TRIES; i++) {
        const uint64_t moves = moves_ended(table, ring);
        copy_row(table, from, copy);
        moved = moves_begun(table, ring) - moves;
        if (moved == 0 && trace_row_unfinished(table, copy) == 0)
            break;
    }
    if (copy[TRACE_ROW_TAG] == 0)
        return TRACE_ROW_FREE; /* it has been moved */
    const uint64_t begun = copy[TRACE_ROW_BEGUN], ended = copy[table->row_words - 1];
    const bool is_sound = keys_are_sound(table, row, copy);
    if (ended == 0 && (begun == 0 || !is_sound))
        return TRACE_ROW_FREE; /* its first update may not have stored the keys yet */
    if (ended > begun || !is_sound)
        return moved == 0 || moved > MOVES_MAX ? TRACE_ROW_DAMAGED : TRACE_ROW_FREE;
    return trace_row_unfinished(table, copy) == 0 ? TRACE_ROW_WHOLE : TRACE_ROW_CHANGING;
}

/* The columns and `ended` of `row` lie `shift` words further behind. */
static void add_shifted(const struct trace_table_info *table, uint64_t *sum, const uint64_t *row,
                        uint32_t shift)
{
    for (uint32_t c = table->key_count; c < table->column_count; c++) {
        const struct trace_column_info *column = &table->columns[c];
        for (uint32_t i = column->word; i < (uint32_t)column->word + column->words; i++)
            if (column->kind == TRACE_COLUMN_MAX)
                sum[i] = row[i + shift] > sum[i] ? row[i + shift] : sum[i];
            else if (column->kind != TRACE_COLUMN_MIN)
                sum[i] += row[i + shift];
            else if (!sum[table->row_words - 1] || row[i + shift] < sum[i])
                sum[i] = row[i + shift];
    }
    sum[TRACE_ROW_BEGUN] += row[TRACE_ROW_BEGUN];
    sum[table->row_words - 1] += row[table->row_words - 1 + shift];
}

void trace_table_add_row(const struct trace_table_info *table, uint64_t *sum, const uint64_t *row)
{
    add_shifted(table, sum, row, 0);
}

void trace_table_add_other(const struct trace_table_info *table, uint64_t *sum, const uint64_t *row)
{
    add_shifted(table, sum, row, table->adds->row_words - table->row_words);
}

/* ---- all rows --------------------------------------------------------------------------------------- */

static bool same_keys(const struct trace_table_info *table, const uint64_t *a, const uint64_t *b)
{
    for (unsigned i = 0; i < table->key_count; i++)
        if (a[TRACE_ROW_KEYS + i] != b[TRACE_ROW_KEYS + i])
            return false;
    return true;
}

static unsigned probe_count(const struct trace_table_info *table)
{
    return table->is_hashed ? TRACE_TABLE_PROBES : 1;
}

/* The place of the key's row, at that probe. */
static uint32_t probe_at(const struct trace_table_info *table, const uint64_t *keys_row, unsigned probe)
{
    return (uint32_t)((table->is_hashed ? keys_row[TRACE_ROW_TAG] + probe : keys_row[TRACE_ROW_KEYS]) %
                      table->rows);
}

/* Whether the row of `cpu` has the keys of `sum`; then it is in walk->copy. Most differ in the tag. */
static bool read_same(struct trace_table_walk *walk, uint32_t cpu, uint32_t row, const uint64_t *sum)
{
    const char *ring = walk->ring_of(cpu);
    if (__atomic_load_n(&row_at(walk->table, ring, row)[TRACE_ROW_TAG], __ATOMIC_RELAXED) !=
        sum[TRACE_ROW_TAG])
        return false;
    const enum trace_row_state state = trace_table_read_row(walk->table, ring, row, walk->copy);
    return (state == TRACE_ROW_WHOLE || state == TRACE_ROW_CHANGING) &&
           same_keys(walk->table, walk->copy, sum);
}

/* Adds to `sum`, a copy of row `row` of CPU `cpu`, all other rows of its keys. False: an earlier row has
 * them, so the key was visited there. */
static bool add_others(struct trace_table_walk *walk, uint32_t cpu, uint32_t row, uint64_t *sum)
{
    const struct trace_table_info *table = walk->table;
    bool is_first = true;
    for (uint32_t other = 0; other < walk->cpu_count && is_first; other++)
        for (unsigned i = 0; i < probe_count(table) && is_first; i++) {
            const uint32_t at = probe_at(table, sum, i);
            if ((other == cpu && at == row) || !read_same(walk, other, at, sum))
                continue;
            is_first = other > cpu || (other == cpu && at > row);
            trace_table_add_row(table, sum, walk->copy);
        }
    return is_first;
}

/* ---- a table that adds another one ------------------------------------------------------------------ */

/* Adds a row, which is in walk->copy in that state. */
static bool add_if_sound(struct trace_table_walk *walk, enum trace_row_state state, bool is_other,
                         uint64_t *sum)
{
    walk->damaged += state == TRACE_ROW_DAMAGED;
    if (state != TRACE_ROW_WHOLE && state != TRACE_ROW_CHANGING)
        return false;
    (is_other ? trace_table_add_other : trace_table_add_row)(walk->table, sum, walk->copy);
    return true;
}

/* Adds the rows of the other table with the key `index`, of one CPU. */
static bool add_other_rows(struct trace_table_walk *walk, const char *ring, uint32_t index, uint64_t *sum)
{
    const struct trace_table_info *other = walk->table->adds;
    bool is_found = false;
    for (uint32_t i = 0; i < other->rows; i++) {
        const uint64_t *row = row_at(other, ring, i);
        const uint32_t key = TRACE_ROW_KEYS + walk->table->adds_key;
        if (__atomic_load_n(&row[TRACE_ROW_TAG], __ATOMIC_RELAXED) &&
            __atomic_load_n(&row[key], __ATOMIC_RELAXED) == index)
            is_found |= add_if_sound(walk, trace_table_read_row(other, ring, i, walk->copy), true, sum);
    }
    return is_found;
}

/* Makes walk->part the sum of a CPU's rows of the key `index`. */
static bool add_once(struct trace_table_walk *walk, const char *ring, uint32_t index)
{
    const struct trace_table_info *table = walk->table;
    for (uint32_t i = 0; i < table->row_words; i++)
        walk->part[i] = 0;
    bool is_found =
        add_if_sound(walk, trace_table_read_row(table, ring, index, walk->copy), false, walk->part);
    is_found |= add_other_rows(walk, ring, index, walk->part);
    return is_found;
}

/* Adds these sums to `sum`, each update once: tries again if rows were moved meanwhile. */
static bool add_of_cpu(struct trace_table_walk *walk, const char *ring, uint32_t index, uint64_t *sum)
{
    const uint64_t damaged = walk->damaged;
    bool is_found = false, is_settled = false;
    for (int i = 0; i < SUM_TRIES && !is_settled; i++) {
        const uint64_t moves = moves_ended(walk->table, ring);
        walk->damaged = damaged;
        is_found = add_once(walk, ring, index);
        is_settled = moves == moves_begun(walk->table, ring);
    }
    if (is_found)
        trace_table_add_row(walk->table, sum, walk->part);
    return is_found;
}

/* Visits the keys in order: each is a row's index. */
static bool next_with_other(struct trace_table_walk *walk, uint64_t *sum)
{
    const struct trace_table_info *table = walk->table;
    while (walk->row < table->rows) {
        const uint32_t index = walk->row++;
        bool is_found = false;
        for (uint32_t i = 0; i < table->row_words; i++)
            sum[i] = 0;
        sum[TRACE_ROW_TAG] = 1, sum[TRACE_ROW_KEYS] = index;
        for (uint32_t cpu = 0; cpu < walk->cpu_count; cpu++)
            is_found |= add_of_cpu(walk, walk->ring_of(cpu), index, sum);
        if (is_found)
            return true;
    }
    return false;
}

bool trace_table_next(struct trace_table_walk *walk, uint64_t *sum)
{
    for (uint32_t cpu = 0; cpu < walk->cpu_count && !walk->has_begun; cpu++)
        walk->moves += moves_ended(walk->table, walk->ring_of(cpu));
    walk->has_begun = true;
    if (walk->table->adds)
        return next_with_other(walk, sum);
    while (walk->cpu < walk->cpu_count && !walk->table->is_private) {
        const uint32_t cpu = walk->cpu, row = walk->row;
        const enum trace_row_state state = trace_table_read_row(walk->table, walk->ring_of(cpu), row, sum);
        if (++walk->row == walk->table->rows)
            walk->row = 0, walk->cpu++;
        walk->damaged += state == TRACE_ROW_DAMAGED;
        if ((state == TRACE_ROW_WHOLE || state == TRACE_ROW_CHANGING) && add_others(walk, cpu, row, sum))
            return true;
    }
    return false;
}

uint64_t trace_table_moves(const struct trace_table_walk *walk)
{
    uint64_t moves = 0;
    for (uint32_t cpu = 0; cpu < walk->cpu_count; cpu++)
        moves += moves_begun(walk->table, walk->ring_of(cpu));
    return moves - walk->moves;
}

uint64_t trace_table_head_sum(const struct trace_table_walk *walk, unsigned word)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < walk->cpu_count; cpu++)
        sum += __atomic_load_n(&head_of(walk->table, walk->ring_of(cpu))[word], __ATOMIC_RELAXED);
    return sum;
}
