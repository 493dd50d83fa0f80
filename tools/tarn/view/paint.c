/* paint.c - the drawing commands of lanes; see paint.h. */
#include <math.h>
#include <tools/tarn/view/layout.h>
#include <tools/tarn/view/paint.h>

#define CPU_EDGE 3u /* pixels above and below the contents of a CPU's lane */

const struct paint_arrow paint_arrows[] = {[ARROW_WAKEUP] = {"wake-up", STYLE_WAKEUP, false},
                                           [ARROW_HANDOVER] = {"hand-over", STYLE_WAKEUP, true},
                                           [ARROW_CALL] = {"IPC call", STYLE_CALL, false},
                                           [ARROW_REPLY] = {"IPC reply", STYLE_CALL, true}};

enum look_kind {
    LOOK_CPU,
    LOOK_STATE,
    LOOK_LOCK,
    LOOK_CALL,
    LOOK_CPU_SHARES,
    LOOK_THREAD_SHARES,
    LOOK_MARK,
    LOOK_UNKNOWN
};

/* Returns a text that is kept as long as the paint. */
__attribute__((format(printf, 2, 3))) static const char *keep(struct paint *paint, const char *format, ...)
{
    char text[640];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return arena_string(&paint->looks.arena, text, strlen(text));
}

static const struct index_thread *thread_of(const struct paint *paint, uint32_t number)
{
    const struct index *index = &paint->view->index;
    return number < index_thread_count(index) ? index_thread(index, number) : NULL;
}

const char *paint_program(const struct view *view, uint32_t pid)
{
    char text[VIEW_NAME_BYTES];
    const char *name = view_process_name(view, pid, text);
    return name == text ? "unknown" : name;
}

/* The kernel's work while no thread runs has its own colour. */
static const char *program_of_thread(const struct paint *paint, uint32_t number)
{
    const struct index_thread *thread = thread_of(paint, number);
    return thread == NULL || thread->is_idle ? "kernel" : paint_program(paint->view, thread->pid);
}

static const char *name_thread(struct paint *paint, uint32_t number)
{
    const struct index_thread *thread = thread_of(paint, number);
    char name[VIEW_NAME_BYTES];
    if (thread == NULL)
        return keep(paint, "thread %u", number);
    if (thread->is_idle)
        return "idle";
    return keep(paint, "%s (%u)", view_thread_name(paint->view, number, name), thread->tid);
}

/* The line about a thread's process; empty for an idle thread. */
static const char *name_process(struct paint *paint, uint32_t number)
{
    const struct index_thread *thread = thread_of(paint, number);
    char name[VIEW_NAME_BYTES];
    if (thread == NULL || thread->is_idle)
        return "";
    return keep(paint, "\nprocess\t%s (%d)", view_process_name(paint->view, thread->pid, name),
                thread->pid == MODEL_NOBODY ? -1 : (int)thread->pid);
}

const char *paint_title(struct paint *paint, const struct lane *lane)
{
    if (lane->is_cpu)
        return keep(paint, "CPU %u", lanes_cpu(paint->view, lane->number));
    return keep(paint, "%s%s", name_thread(paint, lane->number), name_process(paint, lane->number));
}

/* "system call read". BRIEF is its end that suffices in a narrow box: a number alone would not. */
static const char *name_activity(struct paint *paint, const struct lane_box *box, const char **brief)
{
    const char *prefix = styles[STYLE_ACTIVITY + box->kind].text, *name = NULL;
    if (box->kind == ACTIVITY_IRQ)
        name = names_of(&paint->view->index.model->names, NAMES_OF_IRQS, box->detail);
    if (name == NULL)
        name = field_label(model_detail_field(&paint->view->trace.schema, box->kind), box->detail);
    *brief = name;
    if (box->detail != UINT32_MAX && name != NULL)
        return keep(paint, "%s %s", prefix, name);
    return *brief = box->detail == UINT32_MAX ? prefix : keep(paint, "%s %u", prefix, box->detail);
}

/* NULL: the trace does not declare it. */
static const struct model_lock_class *class_of(const struct view *view, const struct lane_wait *wait)
{
    return wait->lock_class < MODEL_LOCK_CLASSES ? &view->index.model->lock_classes[wait->lock_class] : NULL;
}

/* Kernel lock "run queue", or user mutex "stack of items". */
static const char *name_lock(struct paint *paint, const struct lane_wait *wait)
{
    const struct model_lock_class *class = class_of(paint->view, wait);
    const char *name = class != NULL ? class->name : "";
    const char *what = wait->pid == 0 ? "kernel lock" : name[0] == '\0' ? "lock" : "";
    const char *space = what[0] != '\0' && name[0] != '\0' ? " " : "";
    if (wait->name[0] != '\0')
        return keep(paint, "%s%s%s \u201c%s\u201d", what, space, name, wait->name);
    return keep(paint, "%s%s%s 0x%llx", what, space, name, (unsigned long long)wait->lock);
}

const char *paint_wait_tip(struct paint *paint, const struct lane_wait *wait)
{
    const struct model_lock_class *class = class_of(paint->view, wait);
    const char *address = "", *holder = "";
    if (wait->name[0] != '\0')
        address = keep(paint, ", at 0x%llx", (unsigned long long)wait->lock);
    if (wait->holder != LANES_NOBODY)
        holder =
            keep(paint, "\n%s\t%s", class != NULL && class->kind == MODEL_EVENT ? "for thread" : "held by",
                 name_thread(paint, wait->holder));
    return keep(paint, "waits for\t%s%s: " PAINT_TIME "%s", name_lock(paint, wait), address, holder);
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
    const struct index_thread *thread = thread_of(paint, box->what);
    bool has_activity = box->kind != ACTIVITIES, is_idle = thread != NULL && thread->is_idle;
    bool is_kernel = box->kind == ACTIVITY_SYSCALL || box->kind == ACTIVITY_FAULT ||
                     box->kind == ACTIVITY_EXCEPTION || (is_idle && !has_activity);
    const char *activity = is_idle ? "the idle thread" : "its own code", *brief;
    if (!has_activity && box->detail != 0) {
        look_asleep(look);
        return;
    }
    look->shape = PAINT_FILL;
    look->y = CPU_EDGE;
    look->height = LAYOUT_CPU - 2 * CPU_EDGE;
    look->program = program_of_thread(paint, box->what);
    look->style = is_kernel ? STYLE_KERNEL : STYLE_PROGRAM;
    if (box->kind == ACTIVITY_IRQ || box->kind == ACTIVITY_IPI)
        look->style = STYLE_INTERRUPT;
    /* an idle thread works for the kernel: it frees what dead processes leave, say */
    look->label = look->brief = is_idle ? "kernel work" : name_thread(paint, box->what);
    if (has_activity) {
        activity = name_activity(paint, box, &brief);
        look->label = keep(paint, "%s \u00b7 %s", look->brief, activity);
    }
    look->tip = keep(paint, "runs\t%s%s\nin\t%s\nfor\t" PAINT_TIME, look->brief,
                     name_process(paint, box->what), activity);
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
    const char *state = styles[STYLE_STATE + box->what].text, *other = "";
    bool is_running = box->what == MODEL_RUNNING, has_other = box->kind != LANES_NOBODY;
    shape_state(paint->view, look, box->what, pid);
    if (has_other)
        other = is_running ? keep(paint, "CPU %u", lanes_cpu(paint->view, box->kind))
                           : name_thread(paint, box->kind);
    look->tip = keep(paint, has_other ? "%s\t" PAINT_TIME "\n%s\t%s" : "%s\t" PAINT_TIME, state,
                     is_running                 ? "on"
                     : box->what == MODEL_READY ? "woken by"
                                                : "waits for",
                     other);
    if (is_running)
        look->label = keep(paint, "cpu %s", has_other ? other + strlen("CPU ") : "");
    else if (wait != NULL && wait->holder != LANES_NOBODY)
        look->label = keep(paint, "%s: %s", name_lock(paint, wait), name_thread(paint, wait->holder));
    else if (wait != NULL)
        look->label = name_lock(paint, wait);
    else if (has_other && (box->what == MODEL_BLOCKED_REPLY || box->what == MODEL_BLOCKED_SEND))
        look->label = keep(paint, "%s: %s", state, other);
}

static void make_call(struct paint *paint, struct look *look, const struct lane_box *box)
{
    look->shape = PAINT_FILL;
    look->y = LAYOUT_STRIP + 1 + box->what * LAYOUT_CALL;
    look->height = LAYOUT_CALL - 1;
    look->style = STYLE_ACTIVITY + box->kind;
    look->label = name_activity(paint, box, &look->brief);
    look->tip = keep(paint, "in\t%s: " PAINT_TIME, look->label);
}

static void make_cpu_shares(struct paint *paint, struct look *look, uint32_t thread)
{
    look_asleep(look);
    look->program = program_of_thread(paint, thread);
    look->bottom = LAYOUT_CPU - CPU_EDGE;
    look->space = LAYOUT_CPU - 2 * CPU_EDGE;
    look->tip = thread == LANES_NOBODY ? "unknown"
                                       : keep(paint, "unknown\nruns longest\t%s", name_thread(paint, thread));
}

static void make_thread_shares(struct paint *paint, struct look *look, uint32_t state, uint32_t pid)
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
static struct look *find_look(struct paint *paint, enum look_kind kind, uint32_t a, uint64_t b, uint32_t c,
                              bool *is_new)
{
    struct look *look = map_add(&paint->looks, (uint64_t)kind << 32 | a, b, c, is_new);
    if (*is_new) {
        look->program = look->label = look->brief = look->tip = "";
        look->over = STYLES;
    }
    return look;
}

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

static void add_command(struct paint *paint, const struct look *look, const struct lane_box *box)
{
    buffer_add(&paint->commands, &(struct paint_command){look, *box}, sizeof(struct paint_command));
}

static void paint_unknown(struct paint *paint, uint64_t begin, uint64_t end)
{
    if (end > begin && end - begin >= (paint->lanes->to - paint->lanes->from) / paint->lanes->width)
        add_command(paint, unknown(paint), &(struct lane_box){.begin = begin, .end = end, .merged = 1});
}

/* Returns the wait for which a thread sleeps, or NULL. Only wide boxes have labels. */
static const struct lane_wait *find_wait(const struct paint *paint, const struct lane *lane,
                                         const struct lane_box *box)
{
    const struct lanes *lanes = paint->lanes;
    if (box->what != MODEL_BLOCKED_FUTEX ||
        (box->end - box->begin) * 2 < (lanes->to - lanes->from) / lanes->width * PAINT_BRIEF)
        return NULL;
    BUFFER_EACH (const struct lane_wait, wait, &lanes->waits)
        if (wait->thread == lane->number && wait->begin <= box->begin && wait->end >= box->end)
            return wait;
    return NULL;
}

static const struct look *look_of(struct paint *paint, const struct lane *lane, const struct lane_box *box,
                                  bool is_call)
{
    bool is_exact = paint->lanes->is_exact, is_cpu = lane->is_cpu, is_new;
    unsigned known = box->shares[0] + box->shares[1] + box->shares[2] + box->shares[3];
    uint32_t rest = is_cpu || known < 100 ? box->what : MODEL_STATES; /* under the shares */
    uint32_t pid = is_cpu ? 0 : index_thread(&paint->view->index, lane->number)->pid;
    const struct lane_wait *wait = is_exact && !is_cpu && !is_call ? find_wait(paint, lane, box) : NULL;
    struct look *look;
    if (!is_exact && is_cpu && known == 0)
        return unknown(paint);
    if (!is_exact) {
        look = find_look(paint, is_cpu ? LOOK_CPU_SHARES : LOOK_THREAD_SHARES, rest, pid, 0, &is_new);
        if (is_new && is_cpu)
            make_cpu_shares(paint, look, rest);
        else if (is_new)
            make_thread_shares(paint, look, rest, pid);
    } else if (is_cpu || is_call) {
        look = find_look(paint, is_call ? LOOK_CALL : LOOK_CPU, box->what, box->kind, box->detail, &is_new);
        if (is_new && is_call)
            make_call(paint, look, box);
        else if (is_new)
            make_cpu(paint, look, box);
    } else {
        look = wait != NULL ? find_look(paint, LOOK_LOCK, wait->thread, wait->end, 0, &is_new)
                            : find_look(paint, LOOK_STATE, box->what, box->kind,
                                        box->what == MODEL_RUNNING ? pid : 0, &is_new);
        if (is_new)
            make_state(paint, look, box, pid, wait);
    }
    return look;
}

void paint_row(struct paint *paint, const struct lane *lane, uint32_t row)
{
    uint64_t known = paint->lanes->from;
    paint->commands.used = 0;
    BUFFER_EACH (const struct lane_box, box, &lane->rows[row].out) {
        if (lane->is_cpu)
            paint_unknown(paint, known, box->begin);
        add_command(paint, look_of(paint, lane, box, row > 0), box);
        known = box->end;
    }
    if (lane->is_cpu)
        paint_unknown(paint, known, paint->lanes->to);
}

static uint32_t mark_height(double count, double most)
{
    return count > 0 ? (uint32_t)round(fmax(3, (LAYOUT_MARK - 3) * log2(1 + count) / log2(1 + most))) : 0;
}

void paint_mark(struct paint *paint, uint32_t type, unsigned colour)
{
    const struct lanes *lanes = paint->lanes;
    const double *counts = lanes->counts[type], pixel = (double)(lanes->to - lanes->from) / lanes->width;
    double most = 1;
    paint->commands.used = 0;
    for (uint32_t i = 0; i < lanes->width; i++)
        most = fmax(most, counts[i]);
    for (uint32_t i = 0, end; i < lanes->width; i = end) {
        uint32_t height = mark_height(counts[i], most);
        struct lane_box box = {.begin = lanes->from + (uint64_t)(i * pixel), .merged = 1};
        struct look *look;
        bool is_new;
        for (end = i + 1; end < lanes->width && mark_height(counts[end], most) == height;)
            end++;
        if (height == 0)
            continue;
        box.end = lanes->from + (uint64_t)(end * pixel);
        look = find_look(paint, LOOK_MARK, colour, height, 0, &is_new);
        look->shape = PAINT_FILL;
        look->style = STYLE_MARK + colour;
        look->y = LAYOUT_MARK - 1 - height;
        look->height = height;
        add_command(paint, look, &box);
    }
}

void paint_open(struct paint *paint, const struct view *view, const struct lanes *lanes)
{
    *paint = (struct paint){.view = view, .lanes = lanes};
    map_open(&paint->looks, sizeof(struct look));
}

void paint_close(struct paint *paint)
{
    map_close(&paint->looks);
    free(paint->commands.bytes);
}
