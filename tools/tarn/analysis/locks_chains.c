/* SPDX-License-Identifier: BSD-2-Clause */
/* locks_chains.c - call chains that waited for locks, and the holders that they waited for. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tools/tarn/analysis/locks.h>

/* ---- events ---- */

/* Chains with the same length and hash are considered equal. */
struct lock_chain *lock_chain_at(struct locks *locks, const struct lock_fields *fields,
                                 const struct cursor *cursor, const struct lock_event *event)
{
    const uint8_t *bytes = cursor->event.bytes;
    uint64_t addresses[LOCK_CHAIN_MAX] = {0}, hash = HASH_SEED;
    uint32_t depth = fields->depth != NULL ? (uint32_t)field_integer(fields->depth, bytes) : 0;
    struct lock_chain *chain;

    depth = depth < LOCK_CHAIN_MAX ? depth : LOCK_CHAIN_MAX;
    if (fields->chain == NULL || fields->chain->offset / 8 + depth > cursor->event.words)
        depth = 0;
    for (uint32_t i = 0; i < depth; i++) {
        addresses[i] = load64(bytes + fields->chain->offset + 8ul * i, fields->chain->swap);
        hash = hash_number(hash, addresses[i]);
    }
    /* The kernel's chains are shared by all processes. */
    chain = map_at(&locks->chains, event->class, event->pid != 0 ? event->thread->pid : 0, hash + depth);
    chain->depth = depth;
    memcpy(chain->addresses, addresses, depth * sizeof(addresses[0]));
    return chain;
}

static struct lock_taking *taking_at(struct locks *locks, const struct lock_event *event)
{
    return map_at(&locks->takings, event->thread->number, event->lock,
                  (uint64_t)event->pid << 32 | event->class);
}

void lock_chain_takes(struct locks *locks, const struct lock_event *event, struct lock_chain *chain)
{
    *taking_at(locks, event) = (struct lock_taking){event->thread, event->lock, chain};
}

struct lock_chain *lock_chain_lets_go(struct locks *locks, const struct lock_event *event)
{
    struct lock_taking *taking = taking_at(locks, event);
    /* beyond the map's limit, all share one entry */
    bool is_same = taking->thread == event->thread && taking->lock == event->lock;
    struct lock_chain *chain = is_same ? taking->chain : NULL;

    if (is_same)
        taking->chain = NULL;
    return chain;
}

/* Packs a stretch's description of the holder into a number. */
static uint64_t pack_stretch(const struct lock_stretch *stretch)
{
    uint64_t instead = stretch->instead != NULL ? stretch->instead->number : MODEL_NOBODY;

    return instead << 32 | (uint64_t)stretch->cause << 16 | (uint64_t)stretch->state << 8 | stretch->mode;
}

void lock_chain_blame(struct locks *locks, const struct lock_chain *chain, const struct lock_stretch *stretch)
{
    uint64_t thread = stretch->thread != NULL ? stretch->thread->number : MODEL_NOBODY;
    struct lock_chain_holder *holder;

    if (!locks->analysis.tables[LOCKS_BY_CHAIN_HOLDER].is_wanted)
        return;
    holder = map_at(&locks->chain_holders, (uintptr_t)chain, thread, pack_stretch(stretch));
    holder->stretch = *stretch;
    holder->this_wait =
        holder->wait == locks->wait_count ? holder->this_wait + stretch->ticks : stretch->ticks;
    tally_merge(&holder->waits,
                &(struct tally){holder->wait != locks->wait_count, stretch->ticks, holder->this_wait});
    holder->wait = locks->wait_count;
}

/* ---- the table ---- */

static const char *name_deed(const struct lock_stretch *stretch)
{
    static const char *const modes[MODEL_MODES + 1] = {[MODE_USER] = "runs, user code",
                                                       [MODE_KERNEL] = "runs in the kernel",
                                                       [MODE_INTERRUPT] = "is interrupted",
                                                       [MODEL_MODES] = "runs"};

    switch (stretch->cause) {
    case CAUSE_RUNNING:
        return modes[stretch->mode];
    case CAUSE_PREEMPTED:
        return "preempted";
    case CAUSE_BLOCKED:
        return model_state_names[stretch->state];
    case CAUSE_FREE:
        return "free";
    default:
        return "unknown";
    }
}

/* Chains with the same functions are merged into one row, and so are threads with the same name: repeated
 * runs of a program, workers of a pool. */
static void add_holder(struct locks *locks, struct table *table, const struct map_entry *chain,
                       const struct lock_chain_holder *holder)
{
    const struct analysis *analysis = &locks->analysis;
    const struct lock_stretch *stretch = &holder->stretch;
    const struct model_thread *thread = stretch->thread, *instead = stretch->instead;
    char name[LOCK_CHAIN_BYTES], class[ANALYSIS_NAME_BYTES];
    uint64_t hash = HASH_SEED;
    const char *const texts[] = {lock_class_name(analysis, (uint32_t)chain->key[0], class),
                                 analysis_process_name(analysis, (uint32_t)chain->key[1]),
                                 thread != NULL ? analysis_thread_name(analysis, thread) : NULL,
                                 thread != NULL ? analysis_process_name(analysis, thread->pid) : NULL,
                                 name_deed(stretch),
                                 instead != NULL ? analysis_thread_name(analysis, instead) : NULL};
    const unsigned count = sizeof(texts) / sizeof(texts[0]);
    struct table_row *row;

    lock_chain_name(analysis, (uint32_t)chain->key[1], (const void *)chain->value, name);
    for (unsigned i = 0; i < count; i++)
        hash = hash_text(hash_text(hash, texts[i] != NULL ? texts[i] : ""), "\n");
    row = table_row(table, hash, name);
    for (unsigned i = 0; i < count; i++)
        if (texts[i] != NULL && row->cells[i].text == NULL)
            row->cells[i].text = table_text(table, texts[i]);
    tally_merge(table_sum(table, row, sizeof(struct tally)), &holder->waits);
}

static const struct map_entry *entry_of(const void *value)
{
    return (const void *)((const char *)value - offsetof(struct map_entry, value));
}

void locks_fill_chain_holders(struct locks *locks)
{
    struct table *table = &locks->analysis.tables[LOCKS_BY_CHAIN_HOLDER];
    const struct map *map = &locks->chain_holders;

    for (size_t i = 0; i < map->count; i++)
        add_holder(locks, table, entry_of((const void *)(uintptr_t)map->entries[i]->key[0]),
                   (const void *)map->entries[i]->value);
    if (map->others != NULL) /* of chains beyond the limit only the time is known */
        tally_merge(table_sum(table, table_row(table, 0, "(others)"), sizeof(struct tally)),
                    &((const struct lock_chain_holder *)(const void *)map->others->value)->waits);
    for (size_t i = 0; i < table->count; i++)
        tally_fill(&locks->analysis, table->rows[i]->sum, row_cell(table, table->rows[i], "waits"));
}
