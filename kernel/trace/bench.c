/*
 * kernel/trace/bench.c - measures the cost of logging each event of the system (`trace bench`), for the
 * metadata, and collects applications' measurements of theirs.
 *
 * Method: trace/cost/cost.h. Each event has a function here with a call site of its own: a site that is
 * on, the cold code behind it (with a second site, which is off, if the event can be limited), and a block
 * (trace/ring/restart.h). The sites are not in the table of sites, so no mask switches them off. While
 * samples are taken, this CPU logs to a scratch ring, which nobody reads. Interrupts are off; events of an
 * NMI are lost meanwhile. A system call takes the samples of one event, so that none is long.
 *
 * An application's event counts as the measured event that is most like it: the same instructions log it.
 *
 * Locking: trace_lock covers ring and results.
 */
#define TRACE_SITES_UNLISTED
#include "trace/dummies.h" /* generated: includes the classes */
#include <arch/counter.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <trace/cost/cost.h>
#include <trace/format/metadata.h>
#include <trace/format/text.h>
#include <trace/print/app_schema.h>
#include <trace/ring/ring.h>

#define TRACE_DUMMY(id, name, call) TRACE_DUMMY_FUNCTION(name, call)
#include "trace/dummies.h"
#undef TRACE_DUMMY

#define TRACE_DUMMY(id, name, call) {id, #name, dummy_##name},
static const struct dummy {
    uint32_t id;
    const char *name;
    trace_dummy_function *log;
} dummies[] = {
#include "trace/dummies.h"
};
#define DUMMIES (sizeof(dummies) / sizeof(dummies[0]))

/* under trace_lock */
static struct {
    bool is_known;
    struct trace_figures figures;
} results[DUMMIES];
static struct {
    struct trace_control control;
    char buffer[TRACE_BUFFER_BYTES_MIN];
} scratch __attribute__((aligned(4096)));
_Static_assert(TRACE_BUFFERS_OFFSET - TRACE_CONTROL_OFFSET == sizeof(struct trace_control), "as in a ring");

static bool measure(struct trace_figures *figures, trace_dummy_function *log)
{
    struct cpu *cpu = this_cpu();
    const uint64_t ring = cpu->block.ring;
    cpu->block.ring = (uint64_t)scratch.buffer;
    const bool has_logged = trace_measure(figures, log, &scratch.control);
    cpu->block.ring = ring;
    return has_logged;
}

/* ---- the metadata --------------------------------------------------------------------------------- */

static void add_number(struct trace_text *text, uint32_t number, bool is_known)
{
    trace_text_char(text, ' ');
    if (is_known)
        trace_text_number(text, number);
    else
        trace_text_char(text, '-');
}

static void write_figures(struct trace_text *text, const char *name, const struct trace_figures *figures)
{
    const bool counts = arch_counts_instructions();
    trace_text_add(text, " * ");
    trace_text_add(text, name);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->ticks[i], true);
    for (uint32_t i = 0; i < 2; i++)
        add_number(text, figures->instructions[i], counts);
    trace_text_char(text, '\n');
}

/* The kind of a last field that makes events of this type differ in length; else that of a number. */
static enum trace_field_kind tail_of(const struct trace_event_info *info)
{
    const enum trace_field_kind last = info->field_count ? info->fields[info->field_count - 1].kind : 0;
    return last == TRACE_FIELD_STRING || last == TRACE_FIELD_ARRAY ? last : TRACE_FIELD_UNSIGNED;
}

static uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* How much more or less than the other one it takes to log an event: mostly a store for each field. */
static uint32_t distance(const struct trace_event_info *a, const struct trace_event_info *b)
{
    return tail_of(a) == tail_of(b) ? difference(a->field_count, b->field_count) +
                                          difference(a->fixed_bytes / 8, b->fixed_bytes / 8)
                                    : UINT32_MAX;
}

/* The measured event that is most like an application's; NULL: none. */
static const struct trace_figures *find_alike(const struct trace_event_info *own)
{
    const struct trace_figures *found = NULL;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < DUMMIES; i++) {
        const uint32_t away = distance(own, trace_find_event(NULL, dummies[i].id));
        if (!results[i].is_known || away >= least)
            continue;
        least = away;
        found = &results[i].figures;
    }
    return found;
}

static void write_app_figures(struct trace_text *text)
{
    const struct trace_app_schemas *schemas = trace_app_schemas();
    for (uint32_t i = 0; i < TRACE_APP_CLASSES * TRACE_MINORS_SWITCHED; i++) {
        const struct trace_event_info *own =
            schemas->events[i / TRACE_MINORS_SWITCHED][i % TRACE_MINORS_SWITCHED];
        const struct trace_figures *figures = own ? find_alike(own) : NULL;
        if (figures)
            write_figures(text, own->full_name, figures);
    }
}

/* FORMAT.md, "Costs of logging". A multiple of 8 bytes. */
void trace_bench_write(struct trace_text *text)
{
    assert(spin_held(&trace_lock));
    trace_text_add(text, TRACE_COSTS_BEGIN);
    for (uint32_t i = 0; i < DUMMIES; i++)
        if (results[i].is_known)
            write_figures(text, dummies[i].name, &results[i].figures);
    write_app_figures(text);
    trace_text_add(text, " */\n");
    while (text->length % 8 != 0)
        trace_text_char(text, '\n');
}

int64_t trace_bench(uint64_t id)
{
    for (uint32_t i = 0; i < DUMMIES; i++) {
        if (dummies[i].id != id)
            continue;
        spin_lock(&trace_lock);
        bool is_known = results[i].is_known = measure(&results[i].figures, dummies[i].log);
        spin_unlock(&trace_lock);
        return is_known ? 0 : -E_NOT_FOUND;
    }
    return -E_NOT_FOUND;
}
