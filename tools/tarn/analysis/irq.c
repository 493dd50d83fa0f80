/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irq.c - `tarn irq`: interrupts and inter-processor interrupts: how many, how long, where, and the delivery
 * time of the latter.
 *
 * If several of a kind are sent to a CPU before it takes one, it takes them together. The delivery time is
 * then that of the first, and the others count as joined.
 */
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/irq_names.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/spans.h>

enum { BY_IRQ, BY_IPI, BY_CPU, BY_VICTIM, BY_ROUTE, BY_DURATION, BY_LATENCY, BY_LONGEST, TABLES };

/* Inter-processor interrupts of one kind that a CPU has not taken yet. */
struct pending {
    uint64_t sent; /* ticks: of the first */
    uint64_t count;
    uint32_t sender; /* rank of the first sender */
};

/* From one CPU to another, or all of a kind. */
struct route {
    uint64_t sent, taken, joined;
    struct distribution latency;
};

struct irqs {
    struct analysis analysis;
    struct map spans;   /* struct span by irq, or IPI and kind; by thread and rank */
    struct map pending; /* struct pending by target CPU and kind */
    struct map routes;  /* struct route by sender's rank, target CPU and kind */
    struct irq_names names;
    struct longest_list longest;
    const struct event_type *send, *entry; /* ipi_send, ipi_entry */
    const struct field *send_cpu, *send_kind, *entry_kind;
};

#define ALL_COLUMNS SPAN_COLUMNS("count")
static const struct table_column irq_columns[] = {ALL_COLUMNS};
static const struct table_column cpu_columns[] = {NUMBER_COLUMN("cpu"), ALL_COLUMNS};
static const struct table_column victim_columns[] = {NUMBER_COLUMN("tid"), NUMBER_COLUMN("pid"), ALL_COLUMNS};
#define LATENCY_COLUMNS                                                                            \
    TIME_SMALLEST("min_ns"), TIME_OF_ONE("mean_ns"), TIME_OF_ONE("p50_ns"), TIME_OF_ONE("p90_ns"), \
        TIME_OF_ONE("p99_ns"), TIME_LARGEST("max_ns")
static const struct table_column ipi_columns[] = {COUNT_COLUMN("sent"), COUNT_COLUMN("taken"),
                                                  COUNT_COLUMN("joined"), LATENCY_COLUMNS};
static const struct table_column route_columns[] = {NUMBER_COLUMN("from_cpu"), NUMBER_COLUMN("to_cpu"),
                                                    COUNT_COLUMN("sent"),      COUNT_COLUMN("taken"),
                                                    COUNT_COLUMN("joined"),    LATENCY_COLUMNS};
static const struct table_column longest_columns[] = {LONGEST_COLUMNS, NUMBER_COLUMN("cpu")};
static const struct table tables[TABLES] = {
    [BY_IRQ] = TABLE("irq", "interrupt", "interrupts", irq_columns, "total_ns",
                     "interrupts by number; inter-processor interrupts by type"),
    [BY_IPI] = TABLE("ipi", "from send to entry", "kinds", ipi_columns, "sent",
                     "inter-processor interrupts by type, from send to entry"),
    [BY_CPU] = TABLE("cpu", "CPU", "CPUs", cpu_columns, "cpu", "interrupts of each CPU"),
    [BY_VICTIM] = TABLE_EXTRA("thread", "interrupted thread", "threads", victim_columns, "total_ns",
                              "interrupted threads"),
    [BY_ROUTE] = TABLE_EXTRA("route", "from CPU to CPU", "routes", route_columns, "sent",
                             "inter-processor interrupts by sending and receiving CPU"),
    [BY_DURATION] = HISTOGRAM_TABLE("duration", "handling time", "histogram of handling times"),
    [BY_LATENCY] =
        HISTOGRAM_TABLE_EXTRA("latency", "IPI: send to entry", "histogram of the times from send to entry"),
    [BY_LONGEST] = TABLE_EXTRA("longest", "longest interrupts", "interrupts", longest_columns,
                               TABLE_AS_FILLED, "the longest interrupts"),
};

static const char *name_of(const struct analysis *analysis, uint64_t what, char text[ANALYSIS_NAME_BYTES])
{
    return irq_name(&((const struct irqs *)analysis)->names, what, text);
}

static void leave(struct model_observer *self, const struct model_thread *thread,
                  const struct model_frame *frame, uint64_t end)
{
    struct irqs *irqs = ANALYSIS_OF(self, struct irqs);
    uint64_t what = irq_key(frame);

    if ((frame->kind != ACTIVITY_IRQ && frame->kind != ACTIVITY_IPI) ||
        !analysis_wants(&irqs->analysis, thread))
        return;
    span_add(map_at(&irqs->spans, what, thread->number, thread->cpu), &irqs->spans.arena, frame, end, false);
    if (!frame->is_cut)
        longest_add(&irqs->longest, &(struct longest){.ticks = model_span(frame, end),
                                                      .begin = frame->begin,
                                                      .thread = thread,
                                                      .what = what,
                                                      .args = {thread->cpu}});
}

static struct route *route_of(struct irqs *irqs, uint32_t sender, uint64_t cpu, uint64_t kind)
{
    return map_at(&irqs->routes, sender, cpu, kind);
}

static void on_send(struct irqs *irqs, const struct cursor *cursor)
{
    uint64_t cpu = field_integer(irqs->send_cpu, cursor->event.bytes);
    uint64_t kind = field_integer(irqs->send_kind, cursor->event.bytes);
    struct pending *pending = map_at(&irqs->pending, cpu, kind, 0);
    struct route *route = route_of(irqs, cursor->stream->rank, cpu, kind);

    route->sent++;
    if (pending->count++ == 0) {
        pending->sent = cursor->ticks;
        pending->sender = cursor->stream->rank;
    } else {
        route->joined++;
    }
}

/* The clocks of CPUs may differ slightly: then the delivery time is 0. */
static void take_entry(struct irqs *irqs, const struct cursor *cursor)
{
    uint64_t cpu = cursor->stream->cpu, kind = field_integer(irqs->entry_kind, cursor->event.bytes);
    struct pending *pending = map_find(&irqs->pending, cpu, kind, 0);
    struct route *route;

    if (pending == NULL || pending->count == 0)
        return;
    route = route_of(irqs, pending->sender, cpu, kind);
    route->taken++;
    distribution_add(&route->latency, &irqs->routes.arena,
                     cursor->ticks > pending->sent ? cursor->ticks - pending->sent : 0);
    pending->count = 0;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct irqs *irqs = ANALYSIS_OF(self, struct irqs);
    const struct event_type *type = cursor->event.type;

    if (type == irqs->send)
        on_send(irqs, cursor);
    else if (type == irqs->entry)
        take_entry(irqs, cursor);
}

/* Events that lack a field are ignored. */
static void know_events(struct irqs *irqs)
{
    const struct analysis *analysis = &irqs->analysis;
    const struct schema *schema = &analysis->trace->schema;

    irqs->send_cpu = analysis_field(analysis, "irq_ipi_send", "target_cpu");
    irqs->send_kind = analysis_field(analysis, "irq_ipi_send", "kind");
    irqs->entry_kind = analysis_field(analysis, "irq_ipi_entry", "kind");
    if (irqs->send_cpu != NULL && irqs->send_kind != NULL)
        irqs->send = schema_find_event(schema, "irq_ipi_send");
    if (irqs->entry_kind != NULL)
        irqs->entry = schema_find_event(schema, "irq_ipi_entry");
}

static bool open_irqs(struct analysis *analysis, struct fail *fail)
{
    struct irqs *irqs = (struct irqs *)analysis;

    analysis_map(analysis, &irqs->spans, sizeof(struct span))->limit = MAP_DISTRIBUTIONS_MAX;
    analysis_map(analysis, &irqs->pending, sizeof(struct pending));
    analysis_map(analysis, &irqs->routes, sizeof(struct route));
    irq_names_open(&irqs->names, analysis);
    know_events(irqs);
    analysis->observer.leave = leave;
    analysis->observer.event = on_event;
    return true;
}

static void fill_route(const struct irqs *irqs, union table_cell *cells, const struct route *route)
{
    union table_cell all[DISTRIBUTION_COLUMN_COUNT];

    distribution_fill(&route->latency, &irqs->analysis.trace->schema, all);
    cells_put(cells, {.count = route->sent}, {.count = route->taken}, {.count = route->joined}, all[2],
              all[3], all[4], all[5], all[6], all[7]);
}

static void fill_routes(struct irqs *irqs)
{
    struct analysis *analysis = &irqs->analysis;
    struct table *table = &analysis->tables[BY_ROUTE];
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map_total(&irqs->routes); i++) {
        const struct map_entry *entry = map_entry(&irqs->routes, i);
        bool is_rest = entry == irqs->routes.others;
        struct table_row *row =
            table_add(table, is_rest ? "(others)" : label_of(irqs->names.kinds, entry->key[2], text));

        cells_put(row->cells, {.number = is_rest ? TABLE_NONE : analysis->trace->streams[entry->key[0]].cpu},
                  {.number = is_rest ? TABLE_NONE : (int64_t)entry->key[1]});
        fill_route(irqs, row_cell(table, row, "sent"), (const void *)entry->value);
    }
}

static void fill_ipis(struct irqs *irqs)
{
    struct analysis *analysis = &irqs->analysis;
    struct table *table = &analysis->tables[BY_IPI];
    struct distribution all = {0};
    char text[ANALYSIS_NAME_BYTES];

    for (size_t i = 0; i < map_total(&irqs->routes); i++) {
        const struct route *route = (const void *)map_entry(&irqs->routes, i)->value;
        uint64_t kind = map_entry(&irqs->routes, i)->key[2];
        struct table_row *row = table_row(table, kind, label_of(irqs->names.kinds, kind, text));
        struct route *sum = table_sum(table, row, sizeof(*sum));

        sum->sent += route->sent;
        sum->taken += route->taken;
        sum->joined += route->joined;
        distribution_merge(&sum->latency, &table->arena, &route->latency);
        distribution_merge(&all, &table->arena, &route->latency);
    }
    for (size_t i = 0; i < table->count; i++)
        fill_route(irqs, table->rows[i]->cells, table->rows[i]->sum);
    distribution_histogram(&all, &analysis->trace->schema, &analysis->tables[BY_LATENCY]);
}

static struct table_row *add_longest(struct analysis *analysis, struct table *table,
                                     const struct longest *item)
{
    char text[ANALYSIS_NAME_BYTES];
    struct table_row *row = table_add(table, name_of(analysis, item->what, text));

    row_set(table, row, "cpu", analysis->trace->streams[item->args[0]].cpu);
    return row;
}

static void finish_irqs(struct analysis *analysis)
{
    struct irqs *irqs = (struct irqs *)analysis;

    spans_fill(analysis, &analysis->tables[BY_IRQ], &irqs->spans, SPANS_BY_WHAT, name_of);
    spans_fill(analysis, &analysis->tables[BY_CPU], &irqs->spans, SPANS_BY_CPU, name_of);
    spans_fill(analysis, &analysis->tables[BY_VICTIM], &irqs->spans, SPANS_BY_THREAD, name_of);
    fill_ipis(irqs);
    fill_routes(irqs);
    map_histogram(analysis, &analysis->tables[BY_DURATION], &irqs->spans, offsetof(struct span, whole));
    longest_rows(analysis, &analysis->tables[BY_LONGEST], &irqs->longest, add_longest);
}

const struct analysis_kind irq_analysis = {
    .name = "irq",
    .summary = "interrupts and IPIs: how many, how long, where; time from send to entry",
    .tables = tables,
    .table_count = TABLES,
    .size = sizeof(struct irqs),
    .open = open_irqs,
    .finish = finish_irqs,
};
