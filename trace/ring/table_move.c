/*
 * trace/ring/table_move.c - moves rows of tables; see table_read.h. Freestanding.
 *
 * A moved row is added to its target as an update would be: the target's count of begun updates first, the
 * count of ended ones last. So a reader of the target alone sees it before or after the move, and a reader of
 * both rows sees that the area's counts of moves differ. In a freed row the tag is cleared last.
 */
#include <trace/ring/table.h>
#include <trace/ring/table_read.h>

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void add(uint64_t *word, uint64_t value)
{
    trace_row_add(word, value, TRACE_ROW_OF_MANY);
}

/* ---- one row ---------------------------------------------------------------------------------------- */

static void free_row(const struct trace_table_info *table, uint64_t *head, uint64_t *row)
{
    for (uint32_t i = 0; i < table->row_words; i++)
        if (i != TRACE_ROW_TAG)
            store(&row[i], 0);
    /* release: an update that takes the row finds it empty; pairs with trace_row_claim() */
    __atomic_store_n(&row[TRACE_ROW_TAG], 0, __ATOMIC_RELEASE);
    add(&head[TRACE_TABLE_USED], ~0ull);
    add(&head[TRACE_TABLE_MOVED], 1);
}

/* ---- where it is added ------------------------------------------------------------------------------ */

static uint64_t *take_direct(const struct trace_table_info *into, const char *ring, uint64_t index)
{
    if (index >= into->rows)
        return NULL;
    uint64_t *row = trace_table_row_at(into, ring, (uint32_t)index);
    store(&row[TRACE_ROW_KEYS], index);
    return trace_row_claim(trace_table_head_of(into, ring), row, 1) ? row : NULL;
}

/* The row of the ended may be taken in a table that is full, and may lie anywhere: only moves look for it.
 * Near its tag all rows may be taken. */
static uint64_t *take_of_ended(const struct trace_table_info *table, const char *ring, const uint64_t *keys)
{
    uint64_t ended[TRACE_TABLE_KEYS_MAX];
    for (unsigned k = 0; k < table->key_count; k++)
        ended[k] = table->columns[k].owner == TRACE_OWNER_NONE ? keys[k] : TRACE_KEY_ENDED;
    const uint64_t tag = trace_table_tag(ended, table->key_count);
    uint64_t *found = NULL;
    for (uint32_t i = 0; i < table->rows; i++) {
        uint64_t *row = trace_table_row_at(table, ring, (uint32_t)((tag + i) % table->rows));
        if (load(&row[TRACE_ROW_TAG]) == tag) {
            found = row;
            break;
        }
        if (!found && !load(&row[TRACE_ROW_TAG]))
            found = row;
    }
    if (!found || !trace_row_claim(trace_table_head_of(table, ring), found, tag))
        return NULL;
    for (unsigned k = 0; k < table->key_count; k++)
        store(&found[TRACE_ROW_KEYS + k], ended[k]);
    return found;
}

/* ---- a table ---------------------------------------------------------------------------------------- */

/* Whether a row has updates and keys that belong to its tag: others are damaged, or were just taken. */
static bool is_sound(const struct trace_table_info *table, const uint64_t *row)
{
    uint64_t keys[TRACE_TABLE_KEYS_MAX];
    for (unsigned k = 0; k < table->key_count; k++)
        keys[k] = load(&row[TRACE_ROW_KEYS + k]);
    return load(&row[TRACE_ROW_TAG]) == trace_table_tag(keys, table->key_count) &&
           load(&row[TRACE_ROW_BEGUN]) >= load(&row[table->row_words - 1]);
}

static void begin_moves(const struct trace_table_mover *mover)
{
    store((uint64_t *)((uintptr_t)mover->ring + TRACE_TABLES_OFFSET) + TRACE_TABLE_MOVES_BEGUN,
          mover->moves + 1);
    /* a reader of any moved word sees that the move has begun; pairs with moves_begun() */
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_moves(struct trace_table_mover *mover, const struct trace_table_info *table)
{
    mover->moves++;
    /* a reader of the count sees all moved words; pairs with moves_ended() */
    __atomic_store_n((uint64_t *)((uintptr_t)mover->ring + TRACE_TABLES_OFFSET + table->moves_ended),
                     mover->moves, __ATOMIC_RELEASE);
}

/* Whether the row's owner has ended. */
static bool is_to_move(const struct trace_table_mover *mover, const struct trace_table_info *table,
                       const uint64_t *row)
{
    return load(&row[TRACE_ROW_TAG]) && is_sound(table, row) && mover->has_ended(table, &row[TRACE_ROW_KEYS]);
}

static bool move_row(const struct trace_table_mover *mover, const struct trace_table_info *table,
                     uint64_t *row)
{
    const struct trace_table_info *into = mover->into ? mover->into : table;
    uint64_t *target = mover->into
                           ? take_direct(into, mover->ring, load(&row[TRACE_ROW_KEYS + into->adds_key]))
                           : take_of_ended(table, mover->ring, &row[TRACE_ROW_KEYS]);
    if (!target || target == row)
        return false;
    trace_table_add_row(table, row, into, target, TRACE_ROW_OF_MANY);
    free_row(table, trace_table_head_of(table, mover->ring), row);
    return true;
}

uint32_t trace_table_move(struct trace_table_mover *mover, const struct trace_table_info *table)
{
    uint32_t moved = 0;
    bool has_begun = false;
    for (uint32_t i = 0; i < table->rows; i++) {
        uint64_t *row = trace_table_row_at(table, mover->ring, i);
        if (!is_to_move(mover, table, row))
            continue;
        if (!has_begun)
            begin_moves(mover);
        has_begun = true;
        moved += move_row(mover, table, row);
    }
    if (has_begun)
        end_moves(mover, table);
    return moved;
}
