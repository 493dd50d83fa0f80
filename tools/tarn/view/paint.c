/* SPDX-License-Identifier: BSD-2-Clause */
/* paint.c - the drawing commands of lanes; see paint.h. */
#include <stdio.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>

#define CPU_EDGE 3u /* pixels above and below what a CPU's lane contains */

enum look_kind { LOOK_CPU, LOOK_STATE, LOOK_LOCK, LOOK_CALL, LOOK_CPU_RUN, LOOK_THREAD_RUN, LOOK_UNKNOWN };

/* ---- names ----------------------------------------------------------------------------------------- */

static const struct index_thread *thread_of(const struct view *view, uint32_t number)
{
    return number < index_thread_count(&view->index) ? index_thread(&view->index, number) : NULL;
}

const char *paint_program(const struct view *view, uint32_t pid)
{
    char text[VIEW_NAME_BYTES];
    const char *name = view_process_name(view, pid, text);

    return name == text ? "unknown" : name;
}

/* What the kernel does while no thread runs has its own colour. */
static const char *program_of_thread(const struct view *view, uint32_t number)
{
    const struct index_thread *thread = thread_of(view, number);

    return thread == NULL || thread->is_idle ? "kernel" : paint_program(view, thread->pid);
}

void paint_thread_name(const struct view *view, uint32_t number, char text[PAINT_TEXT])
{
    const struct index_thread *thread = thread_of(view, number);
    char name[VIEW_NAME_BYTES];

    if (thread == NULL)
        snprintf(text, PAINT_TEXT, "thread %u", number);
    else if (thread->is_idle)
        snprintf(text, PAINT_TEXT, "idle");
    else
        snprintf(text, PAINT_TEXT, "%s (%u)", view_thread_name(view, number, name), thread->tid);
}

/* The line about a thread's process; empty for an idle thread. */
static void format_process(const struct view *view, uint32_t number, char text[PAINT_TEXT])
{
    const struct index_thread *thread = thread_of(view, number);
    char name[VIEW_NAME_BYTES];

    text[0] = '\0';
    if (thread != NULL && !thread->is_idle)
        snprintf(text, PAINT_TEXT, "\nprocess\t%s (%d)", view_process_name(view, thread->pid, name),
                 thread->pid == MODEL_NOBODY ? -1 : (int)thread->pid);
}

static unsigned cpu_of(const struct view *view, uint32_t rank)
{
    const struct trace *trace = &view->trace;
    uint32_t cpu = 0;

    if (rank < trace->stream_count)
        return trace->streams[rank].cpu;
    for (uint32_t left = rank - trace->stream_count;; cpu++) /* one without a stream */
        if (trace_find_cpu(trace, cpu) == trace->stream_count && left-- == 0)
            return cpu;
}

void paint_title(const struct paint *paint, const struct lane *lane, char text[PAINT_TEXT])
{
    char process[PAINT_TEXT];
    size_t length;

    if (lane->is_cpu) {
        snprintf(text, PAINT_TEXT, "CPU %u", cpu_of(paint->view, lane->number));
        return;
    }
    paint_thread_name(paint->view, lane->number, text);
    format_process(paint->view, lane->number, process);
    length = strlen(text);
    snprintf(text + length, PAINT_TEXT - length, "%s", process);
}

/* The name of an activity's detail; NULL: it has none. */
static const char *detail_name(const struct view *view, uint32_t kind, uint32_t detail)
{
    const struct field *field = model_detail_field(&view->trace.schema, kind);
    const struct model_irq *irqs = (const struct model_irq *)view->index.irqs.bytes;

    for (size_t i = 0; kind == ACTIVITY_IRQ && i < view->index.irqs.used / sizeof(*irqs); i++)
        if (irqs[i].number == detail)
            return irqs[i].name;
    for (const struct tsdl_label *label = field != NULL ? field->labels : NULL; label != NULL;
         label = label->next)
        if (label->low == detail)
            return label->name;
    return NULL;
}

/* "system call read". Returns its end that suffices in a narrow box: a number alone would not. */
static const char *format_activity(const struct view *view, uint32_t kind, uint32_t detail,
                                   char text[PAINT_TEXT])
{
    const char *name = detail_name(view, kind, detail), *prefix = styles[STYLE_ACTIVITY + kind].text;

    if (detail == UINT32_MAX)
        snprintf(text, PAINT_TEXT, "%s", prefix);
    else if (name == NULL)
        snprintf(text, PAINT_TEXT, "%s %u", prefix, detail);
    else
        return text + snprintf(text, PAINT_TEXT, "%s %s", prefix, name) - strlen(name);
    return text;
}

/* Kernel lock "run queue", or user mutex "stack of items". */
void paint_lock_name(const struct view *view, const struct lane_wait *wait, char text[PAINT_TEXT])
{
    const struct model_lock_class *classes = (const struct model_lock_class *)view->index.lock_classes.bytes;
    bool is_known = wait->lock_class < view->index.lock_classes.used / sizeof(*classes);
    const char *name = is_known ? classes[wait->lock_class].name : "";
    const char *what = wait->pid == 0 ? "kernel lock" : name[0] == '\0' ? "lock" : "";
    const char *space = what[0] != '\0' && name[0] != '\0' ? " " : "";

    if (wait->name[0] != '\0')
        snprintf(text, PAINT_TEXT, "%s%s%s \u201c%s\u201d", what, space, name, wait->name);
    else
        snprintf(text, PAINT_TEXT, "%s%s%s 0x%llx", what, space, name, (unsigned long long)wait->lock);
}

void paint_wait_tip(const struct view *view, const struct lane_wait *wait, char text[2 * PAINT_TEXT])
{
    const struct model_lock_class *classes = (const struct model_lock_class *)view->index.lock_classes.bytes;
    bool is_event = wait->lock_class < view->index.lock_classes.used / sizeof(*classes) &&
                    classes[wait->lock_class].kind == MODEL_EVENT;
    char name[PAINT_TEXT], address[32] = "";
    size_t length;

    paint_lock_name(view, wait, name);
    if (wait->name[0] != '\0')
        snprintf(address, sizeof(address), ", at 0x%llx", (unsigned long long)wait->lock);
    length = (size_t)snprintf(text, 2 * PAINT_TEXT, "waits for\t%s%s: " PAINT_TIME, name, address);
    if (wait->holder == LANES_NOBODY || length >= 2 * PAINT_TEXT)
        return;
    paint_thread_name(view, wait->holder, name);
    snprintf(text + length, 2 * PAINT_TEXT - length, "\n%s\t%s", is_event ? "for thread" : "held by", name);
}

/* ---- looks ----------------------------------------------------------------------------------------- */

static const char *keep(struct paint *paint, const char *text)
{
    return arena_string(&paint->looks.arena, text, strlen(text));
}

static bool is_kernel(uint32_t kind)
{
    return kind == ACTIVITY_SYSCALL || kind == ACTIVITY_FAULT || kind == ACTIVITY_EXCEPTION;
}

static void look_asleep(struct look *look)
{
    look->shape = PAINT_LINE;
    look->y = LAYOUT_CPU - CPU_EDGE - 2;
    look->height = 2;
    look->style = STYLE_IDLE;
    look->tip = "runs\tidle\nin\tsleep\nfor\t" PAINT_TIME;
}

static void make_cpu(struct paint *paint, struct look *look, const struct lane_box *box)
{
    const struct view *view = paint->view;
    const struct index_thread *thread = thread_of(view, box->what);
    bool has_activity = box->kind != ACTIVITIES, is_idle = thread != NULL && thread->is_idle;
    char name[PAINT_TEXT] = "kernel work", activity[PAINT_TEXT], process[PAINT_TEXT], text[4 * PAINT_TEXT];

    if (!has_activity && box->detail != 0) {
        look_asleep(look);
        return;
    }
    look->shape = PAINT_FILL;
    look->y = CPU_EDGE;
    look->height = LAYOUT_CPU - 2 * CPU_EDGE;
    look->program = program_of_thread(view, box->what);
    look->style = box->kind == ACTIVITY_IRQ || box->kind == ACTIVITY_IPI                 ? STYLE_INTERRUPT
                  : (has_activity && is_kernel(box->kind)) || (is_idle && !has_activity) ? STYLE_KERNEL
                                                                                         : STYLE_PROGRAM;
    if (!is_idle) /* an idle thread works for the kernel: it frees what dead processes leave, say */
        paint_thread_name(view, box->what, name);
    if (has_activity)
        format_activity(view, box->kind, box->detail, activity);
    snprintf(text, sizeof(text), has_activity ? "%s \u00b7 %s" : "%s", name, activity);
    look->brief = keep(paint, name);
    look->label = keep(paint, text);
    format_process(view, box->what, process);
    snprintf(text, sizeof(text), "runs\t%s%s\nin\t%s\nfor\t" PAINT_TIME, name, process,
             has_activity ? activity
             : is_idle    ? "the idle thread"
                          : "its own code");
    look->tip = keep(paint, text);
}

static void shape_state(const struct view *view, struct look *look, uint32_t state, uint32_t pid)
{
    look->style = STYLE_STATE + state;
    switch (state) {
    case MODEL_RUNNING:
        look->shape = PAINT_FILL;
        look->height = LAYOUT_STRIP;
        look->style = STYLE_PROGRAM;
        look->program = paint_program(view, pid);
        break;
    case MODEL_READY:
    case MODEL_UNKNOWN:
        look->shape = PAINT_STRIPES;
        look->y = 3;
        look->height = LAYOUT_STRIP - 6;
        look->style = state == MODEL_READY ? STYLE_STATE + MODEL_READY : STYLE_LOST;
        break;
    case MODEL_DEAD:
        break;
    default:
        look->shape = PAINT_LINE;
        look->y = LAYOUT_STRIP / 2 - 1;
        look->height = 2;
        look->label = styles[STYLE_STATE + state].text;
    }
}

/* WAIT: the lock's, if that is known. */
static void make_state(struct paint *paint, struct look *look, const struct lane_box *box, uint32_t pid,
                       const struct lane_wait *wait)
{
    const char *state = styles[STYLE_STATE + box->what].text;
    bool has_other = box->kind != LANES_NOBODY;
    char other[PAINT_TEXT] = "", text[3 * PAINT_TEXT];

    shape_state(paint->view, look, box->what, pid);
    if (box->what == MODEL_RUNNING)
        snprintf(other, sizeof(other), "CPU %u", has_other ? cpu_of(paint->view, box->kind) : 0);
    else if (has_other)
        paint_thread_name(paint->view, box->kind, other);
    snprintf(text, sizeof(text), has_other ? "%s\t" PAINT_TIME "\n%s\t%s" : "%s\t" PAINT_TIME, state,
             box->what == MODEL_RUNNING ? "on"
             : box->what == MODEL_READY ? "woken by"
                                        : "waits for",
             other);
    look->tip = keep(paint, text);
    if (box->what == MODEL_RUNNING) {
        snprintf(text, sizeof(text), "cpu %s", has_other ? other + strlen("CPU ") : "");
        look->label = keep(paint, text);
    } else if (wait != NULL) {
        paint_lock_name(paint->view, wait, text);
        if (wait->holder != LANES_NOBODY) {
            paint_thread_name(paint->view, wait->holder, other);
            snprintf(text + strlen(text), PAINT_TEXT, ": %s", other);
        }
        look->label = keep(paint, text);
    } else if (has_other && (box->what == MODEL_BLOCKED_REPLY || box->what == MODEL_BLOCKED_SEND)) {
        snprintf(text, sizeof(text), "%s: %s", state, other);
        look->label = keep(paint, text);
    }
}

static void make_call(struct paint *paint, struct look *look, const struct lane_box *box)
{
    char name[PAINT_TEXT], text[2 * PAINT_TEXT];
    const char *brief = format_activity(paint->view, box->kind, box->detail, name);

    look->shape = PAINT_FILL;
    look->y = LAYOUT_STRIP + 1 + box->what * LAYOUT_CALL;
    look->height = LAYOUT_CALL - 1;
    look->style = STYLE_ACTIVITY + box->kind;
    look->label = keep(paint, name);
    look->brief = keep(paint, brief);
    snprintf(text, sizeof(text), "in\t%s: " PAINT_TIME, name);
    look->tip = keep(paint, text);
}

static void make_cpu_run(struct paint *paint, struct look *look, uint32_t thread)
{
    char name[PAINT_TEXT], text[2 * PAINT_TEXT];

    look_asleep(look);
    look->program = program_of_thread(paint->view, thread);
    look->bottom = LAYOUT_CPU - CPU_EDGE;
    look->space = LAYOUT_CPU - 2 * CPU_EDGE;
    paint_thread_name(paint->view, thread, name);
    snprintf(text, sizeof(text), "unknown\nruns longest\t%s", name);
    look->tip = thread == LANES_NOBODY ? "unknown" : keep(paint, text);
}

static void make_thread_run(struct paint *paint, struct look *look, uint32_t state, uint32_t pid)
{
    if (state < MODEL_STATES) {
        shape_state(paint->view, look, state, pid);
        look->tip = styles[STYLE_STATE + state].text;
    }
    look->program = paint_program(paint->view, pid);
    look->bottom = look->space = LAYOUT_STRIP;
    look->over = STYLE_STATE + MODEL_READY;
}

/* Returns the look of a key. IS_NEW: it is to be made. */
static struct look *find_look(struct paint *paint, enum look_kind kind, uint32_t a, uint32_t b, uint32_t c,
                              bool *is_new)
{
    struct look *look = map_add(&paint->looks, (uint64_t)kind << 32 | a, b, c, is_new);

    if (*is_new) {
        look->program = look->label = look->brief = look->tip = "";
        look->over = STYLES;
    }
    return look;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static const struct look *unknown(struct paint *paint)
{
    bool is_new;
    struct look *look = find_look(paint, LOOK_UNKNOWN, 0, 0, 0, &is_new);

    look->shape = PAINT_STRIPES;
    look->style = STYLE_LOST;
    look->y = CPU_EDGE;
    look->height = LAYOUT_CPU - 2 * CPU_EDGE;
    look->tip = "unknown\tnothing was logged, or events were lost";
    return look;
}

static void paint_unknown(struct paint *paint, uint64_t begin, uint64_t end, struct painter *painter)
{
    const struct lane_box box = {.begin = begin, .end = end, .merged = 1};

    if (end > begin && end - begin >= (paint->lanes->to - paint->lanes->from) / paint->lanes->width)
        painter->box(painter, unknown(paint), &box);
}

static void paint_cpu(struct paint *paint, const struct lane *lane, struct painter *painter)
{
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;
    uint64_t known = paint->lanes->from;
    bool is_new;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++, box++) {
        struct look *look = find_look(paint, LOOK_CPU, box->what, box->kind, box->detail, &is_new);

        if (is_new)
            make_cpu(paint, look, box);
        paint_unknown(paint, known, box->begin, painter);
        painter->box(painter, look, box);
        known = box->end;
    }
    paint_unknown(paint, known, paint->lanes->to, painter);
}

/* Returns the number of the wait for which a thread sleeps, or LANES_NOBODY. Only wide boxes have labels. */
static uint32_t find_wait(const struct paint *paint, const struct lane *lane, const struct lane_box *box)
{
    const struct lanes *lanes = paint->lanes;
    const struct lane_wait *waits = (const struct lane_wait *)lanes->waits.bytes;

    if (box->what != MODEL_BLOCKED_FUTEX ||
        (box->end - box->begin) * 2 < (lanes->to - lanes->from) / lanes->width * (uint64_t)PAINT_BRIEF)
        return LANES_NOBODY;
    for (uint32_t i = 0; i < lane_count(&lanes->waits, sizeof(*waits)); i++)
        if (waits[i].thread == lane->number && waits[i].begin <= box->begin && waits[i].end >= box->end)
            return i;
    return LANES_NOBODY;
}

static void paint_states(struct paint *paint, const struct lane *lane, struct painter *painter)
{
    const struct lane_wait *waits = (const struct lane_wait *)paint->lanes->waits.bytes;
    const struct lane_box *box = (const struct lane_box *)lane->boxes.bytes;
    uint32_t pid = index_thread(&paint->view->index, lane->number)->pid;

    for (size_t i = 0; i < lane_count(&lane->boxes, sizeof(*box)); i++, box++) {
        uint32_t wait = find_wait(paint, lane, box);
        bool is_new, has_lock = wait != LANES_NOBODY;
        struct look *look = has_lock ? find_look(paint, LOOK_LOCK, wait, 0, 0, &is_new)
                                     : find_look(paint, LOOK_STATE, box->what, box->kind,
                                                 box->what == MODEL_RUNNING ? pid : 0, &is_new);

        if (is_new)
            make_state(paint, look, box, pid, has_lock ? &waits[wait] : NULL);
        painter->box(painter, look, box);
    }
}

static void paint_calls(struct paint *paint, const struct buffer *calls, struct painter *painter)
{
    const struct lane_box *box = (const struct lane_box *)calls->bytes;
    bool is_new;

    for (size_t i = 0; i < lane_count(calls, sizeof(*box)); i++, box++) {
        struct look *look = find_look(paint, LOOK_CALL, box->what, box->kind, box->detail, &is_new);

        if (is_new)
            make_call(paint, look, box);
        painter->box(painter, look, box);
    }
}

static void paint_runs(struct paint *paint, const struct lane *lane, struct painter *painter)
{
    const struct lane_run *run = (const struct lane_run *)lane->runs.bytes;
    uint32_t pid = lane->is_cpu ? 0 : index_thread(&paint->view->index, lane->number)->pid;
    struct look *look;
    bool is_new;

    for (size_t i = 0; i < lane_count(&lane->runs, sizeof(*run)); i++, run++) {
        unsigned known = run->shares[0] + run->shares[1] + run->shares[2] + run->shares[3];
        uint32_t rest = lane->is_cpu || known < 100 ? run->what : MODEL_STATES; /* under the shares */

        if (lane->is_cpu && known == 0) {
            painter->run(painter, unknown(paint), run);
            continue;
        }
        look = find_look(paint, lane->is_cpu ? LOOK_CPU_RUN : LOOK_THREAD_RUN, rest, pid, 0, &is_new);
        if (is_new && lane->is_cpu)
            make_cpu_run(paint, look, rest);
        else if (is_new)
            make_thread_run(paint, look, rest, pid);
        painter->run(painter, look, run);
    }
}

void paint_row(struct paint *paint, const struct lane *lane, uint32_t row, struct painter *painter)
{
    if (!paint->lanes->is_exact)
        paint_runs(paint, lane, painter);
    else if (row > 0)
        paint_calls(paint, &lane->calls[row - 1], painter);
    else if (lane->is_cpu)
        paint_cpu(paint, lane, painter);
    else
        paint_states(paint, lane, painter);
}

void paint_open(struct paint *paint, const struct view *view, const struct lanes *lanes)
{
    *paint = (struct paint){.view = view, .lanes = lanes};
    map_open(&paint->looks, sizeof(struct look));
}

void paint_close(struct paint *paint)
{
    map_close(&paint->looks);
}
