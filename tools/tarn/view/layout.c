/* layout.c - the rows of the timeline; see layout.h. */
#include <strings.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/view/cover.h>
#include <tools/tarn/view/layout.h>

const char *view_title(const struct view *view)
{
    const char *name = view_name(view);
    size_t slashes = is_source(name) ? 2 : 0;
    for (const char *at = name + strlen(name); at > name && slashes < 2; at--)
        if (at[-1] == '/' && at[0] != '\0' && ++slashes == 2)
            return at;
    return name;
}

const char *view_process_name(const struct view *view, uint32_t pid, char text[VIEW_NAME_BYTES])
{
    const struct model *model = view->index.model;
    const char *name = model != NULL ? names_find(&model->names, pid) : NULL;
    if (name != NULL)
        return name;
    snprintf(text, VIEW_NAME_BYTES, pid == MODEL_NOBODY ? "unknown" : "process %u", pid);
    return text;
}

const char *view_thread_name(const struct view *view, uint32_t number, char text[VIEW_NAME_BYTES])
{
    const struct index_thread *thread = index_thread(&view->index, number);
    return thread->name[0] != '\0' ? thread->name : view_process_name(view, thread->pid, text);
}

static const struct index_thread *thread_of(const struct layout *layout, uint32_t number)
{
    return index_thread(&layout->view->index, number);
}

void layout_name(const struct layout *layout, const struct layout_row *row, struct layout_texts *texts)
{
    const struct view *view = layout->view;
    int pid = row->pid == MODEL_NOBODY ? -1 : (int)row->pid;
    char text[VIEW_NAME_BYTES];
#define NAME(field, ...) snprintf(texts->field, sizeof(texts->field), __VA_ARGS__)
    if (row->kind == LAYOUT_OF_CPU) {
        NAME(label, "CPU %u", row->cpu);
        NAME(number, "%s", "");
        NAME(title, "%s", texts->label);
    } else if (row->kind == LAYOUT_OF_PROCESS) {
        NAME(label, "%s", view_process_name(view, row->pid, text));
        NAME(number, "%d \u00d7%u", pid, row->count);
        NAME(title, "process %d, %s: %u threads", pid, texts->label, row->count);
    } else {
        uint32_t tid = thread_of(layout, row->number)->tid;
        NAME(label, "%s", view_thread_name(view, row->number, text));
        NAME(number, "%u", tid);
        NAME(title, "thread %u, %s, of process %d", tid, texts->label, pid);
    }
#undef NAME
}

static bool matches(const struct layout *layout, const struct index_thread *thread)
{
    char text[2 * VIEW_NAME_BYTES + 16], name[VIEW_NAME_BYTES];
    if (layout->options.filter == NULL)
        return true;
    snprintf(text, sizeof(text), "%s %s %u", thread->name, view_process_name(layout->view, thread->pid, name),
             thread->tid);
    return strcasestr(text, layout->options.filter) != NULL;
}

static uint64_t time_run(const struct layout *layout, uint32_t number)
{
    const uint64_t *ticks = tally_ticks(&layout->tally, number);
    return ticks[NODE_USER] + ticks[NODE_KERNEL] + ticks[NODE_INTERRUPT];
}

static void add_row(struct layout *layout, struct layout_row row)
{
    buffer_add(&layout->rows, &row, sizeof(row));
}

static void add_thread(struct layout *layout, uint32_t number)
{
    add_row(layout, (struct layout_row){.kind = LAYOUT_OF_THREAD,
                                        .number = number,
                                        .pid = thread_of(layout, number)->pid,
                                        .pin = LAYOUT_UNPINNED,
                                        .ran = time_run(layout, number),
                                        .ready = tally_ticks(&layout->tally, number)[NODE_READY]});
}

static bool is_wanted(const struct layout *layout, uint32_t number)
{
    const struct index_thread *thread = thread_of(layout, number);
    return (layout->options.for_page || time_run(layout, number) > 0) && !thread->is_idle &&
           matches(layout, thread);
}

/* Returns the row of a thread, which is added if there is none; NULL: there is no such thread. */
static struct layout_row *row_of(struct layout *layout, uint64_t number)
{
    size_t count = layout_count(layout);
    BUFFER_EACH (struct layout_row, row, &layout->rows)
        if (row->number == number)
            return row;
    if (number >= index_thread_count(&layout->view->index))
        return NULL;
    add_thread(layout, (uint32_t)number);
    return layout_row(layout, count);
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;
    return a->ran != b->ran ? compare(b->ran, a->ran) : compare(a->number, b->number);
}

static void choose_active(struct layout *layout)
{
    const struct layout_options *options = &layout->options;
    const struct tally *tally = &layout->tally;
    uint64_t number, last;
    struct layout_row *row;
    for (uint32_t i = 0; i < tally->touched_count; i++)
        if (tally->touched[i] < index_thread_count(&layout->view->index) &&
            is_wanted(layout, tally->touched[i]))
            add_thread(layout, tally->touched[i]);
    if (layout->rows.used > 0)
        qsort(layout->rows.bytes, layout_count(layout), sizeof(*row), by_time);
    if (layout_count(layout) > options->most) {
        layout->hidden = (uint32_t)layout_count(layout) - options->most;
        layout->rows.used = options->most * sizeof(*row);
    }
    if (options->chosen != LANES_NOBODY)
        row_of(layout, options->chosen);
    for (const char *at = options->pins; at != NULL && *at != '\0';)
        if ((at = list_next(at, &number, &last)) != NULL && (row = row_of(layout, number)) != NULL)
            row->pin = (uint32_t)(strlen(options->pins) - strlen(at));
}

static bool choose_threads(struct layout *layout, struct fail *fail)
{
    const char *tids = layout->options.tids;
    if (tids == NULL) {
        choose_active(layout);
        return true;
    }
    for (uint32_t i = 0; i < index_thread_count(&layout->view->index); i++)
        if (list_has(tids, thread_of(layout, i)->tid))
            add_thread(layout, i);
    return layout_count(layout) > 0 ||
           fail_set(fail, "the trace has no thread %.100s; `tarn threads --top 0` lists its threads", tids);
}

/* Adds up the times of each process, and gives a row to those of several threads. */
static void sum_processes(struct layout *layout)
{
    size_t count = layout_count(layout);
    for (size_t i = 0; i < count; i++) {
        struct layout_row *row = layout_row(layout, i), head = {.pid = row->pid};
        bool is_first = true;
        BUFFER_EACH (const struct layout_row, other, &layout->rows) {
            if (other->pid != row->pid || other->kind == LAYOUT_OF_PROCESS)
                continue;
            is_first &= other >= row;
            head.process_ran += other->ran;
            head.is_busy |= other->ran + other->ready > 0;
            head.count++;
        }
        row->process_ran = head.process_ran;
        row->is_busy = head.is_busy;
        row->is_inner = head.count > 1 && layout->options.for_page && row->pin == LAYOUT_UNPINNED;
        if (!is_first || head.count < 2 || !layout->options.for_page)
            continue;
        head.kind = LAYOUT_OF_PROCESS;
        head.ran = head.process_ran;
        head.pin = LAYOUT_UNPINNED;
        add_row(layout, head);
    }
}

/* CPUs by number, because streams are sorted by name; pinned threads in their order; then threads by process.
 * Processes without a busy thread come last, then those that ran for less time. */
static int by_place(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;
    const int orders[] = {compare(b->kind == LAYOUT_OF_CPU, a->kind == LAYOUT_OF_CPU),
                          compare(a->cpu, b->cpu),
                          compare(a->pin, b->pin),
                          compare(b->is_busy, a->is_busy),
                          compare(b->process_ran, a->process_ran),
                          compare(a->pid, b->pid),
                          compare(a->kind, b->kind),
                          compare(b->ran, a->ran),
                          compare(a->number, b->number)};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

bool layout_open(struct layout *layout, const struct view *view, const struct layout_options *options,
                 struct fail *fail)
{
    *layout = (struct layout){.options = *options, .view = view};
    tally_open(&layout->tally, &view->trace);
    cover_sum(&view->index, &view->trace, options->from, options->to, &layout->tally);
    if (!choose_threads(layout, fail))
        return false;
    sum_processes(layout);
    for (uint32_t rank = 0; rank < lanes_cpu_count(view); rank++)
        add_row(layout,
                (struct layout_row){.kind = LAYOUT_OF_CPU, .number = rank, .cpu = lanes_cpu(view, rank)});
    qsort(layout->rows.bytes, layout_count(layout), sizeof(struct layout_row), by_place);
    return true;
}

void layout_close(struct layout *layout)
{
    tally_close(&layout->tally);
    free(layout->rows.bytes);
}
