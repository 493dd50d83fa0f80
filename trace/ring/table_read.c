/*
 * trace/ring/table_read.c - copies rows of tables; see table_read.h. Freestanding.
 */
#include <trace/ring/table_read.h>

#define READ_TRIES 8
#define MOVES_MAX  64u /* while a row is read; counts that differ by more are damaged */

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
    for (unsigned k = 0; k < table->key_count; k++)
        if (copy[TRACE_ROW_KEYS + k] == TRACE_KEY_ENDED)
            return true; /* only moves look for the row of the ended: anywhere */
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
    const uint64_t *from = trace_table_row_at(table, ring, row);
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

static inline __attribute__((always_inline)) void add_row(const struct trace_table_info *table,
                                                          const uint64_t *row,
                                                          const struct trace_table_info *into, uint64_t *sum,
                                                          enum trace_row_writers writers)
{
    const uint32_t shift = table->row_words - into->row_words; /* more keys */
    const uint32_t last = into->row_words - 1;
    const bool is_first = __atomic_load_n(&sum[last], __ATOMIC_RELAXED) == 0;
    trace_row_add(&sum[TRACE_ROW_BEGUN], __atomic_load_n(&row[TRACE_ROW_BEGUN], __ATOMIC_RELAXED), writers);
    /* as in trace_row_begin() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (uint32_t c = into->key_count; c < into->column_count; c++) {
        const struct trace_column_info *column = &into->columns[c];
        for (uint32_t i = column->word; i < (uint32_t)column->word + column->words; i++) {
            const uint64_t value = __atomic_load_n(&row[i + shift], __ATOMIC_RELAXED);
            if (column->kind == TRACE_COLUMN_MAX)
                trace_row_raise(&sum[i], value, writers);
            else if (column->kind != TRACE_COLUMN_MIN && value != 0)
                trace_row_add(&sum[i], value, writers);
            else if (column->kind == TRACE_COLUMN_MIN && (is_first || value < sum[i]))
                sum[i] = value; /* private tables only */
        }
    }
    /* as in trace_row_end() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    trace_row_add(&sum[last], __atomic_load_n(&row[last + shift], __ATOMIC_RELAXED), writers);
}

void trace_table_add_row(const struct trace_table_info *table, const uint64_t *row,
                         const struct trace_table_info *into, uint64_t *sum, enum trace_row_writers writers)
{
    if (writers == TRACE_ROW_OF_ONE)
        add_row(table, row, into, sum, TRACE_ROW_OF_ONE);
    else
        add_row(table, row, into, sum, TRACE_ROW_OF_MANY);
}

/* ---- all rows --------------------------------------------------------------------------------------- */

/* Makes a row of the table that is added a row of this one: with one of its keys only. */
static void convert(const struct trace_table_info *table, uint64_t *row)
{
    const uint32_t shift = table->adds->row_words - table->row_words;
    row[TRACE_ROW_TAG] = 1;
    row[TRACE_ROW_KEYS] = row[TRACE_ROW_KEYS + table->adds_key];
    for (uint32_t i = TRACE_ROW_KEYS + 1; i < table->row_words; i++)
        row[i] = row[i + shift];
}

bool trace_table_next(struct trace_table_walk *walk, uint64_t *row)
{
    const struct trace_table_info *table = walk->table;
    const uint32_t others = table->adds ? table->adds->rows : 0;
    if (!walk->row)
        walk->moves = moves_ended(table, walk->ring);
    while (walk->row < others + table->rows) {
        const bool is_other = walk->row < others;
        const enum trace_row_state state = trace_table_read_row(
            is_other ? table->adds : table, walk->ring, is_other ? walk->row : walk->row - others, row);
        walk->row++;
        walk->damaged += state == TRACE_ROW_DAMAGED;
        if (state != TRACE_ROW_WHOLE && state != TRACE_ROW_CHANGING)
            continue;
        if (is_other)
            convert(table, row);
        if (row[TRACE_ROW_KEYS] < table->rows || table->is_hashed)
            return true;
    }
    return false;
}

uint64_t trace_table_moves(const struct trace_table_walk *walk)
{
    return moves_begun(walk->table, walk->ring) - walk->moves;
}

uint64_t trace_table_head_word(const struct trace_table_info *table, const char *ring, unsigned word)
{
    return __atomic_load_n(&trace_table_head_of(table, ring)[word], __ATOMIC_RELAXED);
}
