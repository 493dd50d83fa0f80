/*
 * trace_control.c - system calls that control the trace: trace_control, trace_consume, trace_image; the
 * statedump; the boot options.
 *
 * Masks, mode and switches are single words that may change at any time; the sites of trace points follow
 * (sites.c). rings.c changes the rings.
 */
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/cpu/lock.h>
#include <kernel/cpu/smp_call.h>
#include <kernel/diagnosis/counters.h>
#include <kernel/diagnosis/profile.h>
#include <kernel/diagnosis/routines.h>
#include <kernel/ipc/cap.h>
#include <kernel/ipc/irq.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/sched/sched.h>
#include <kernel/sched/switch.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <tarn/trace_control.h>
#include <trace/events.h>
#include <trace/process.h>
#include <trace/ring/ring.h>
#include <trace/state.h>
#include <trace/trace.h>

/* The events about changes. They are logged whatever mask and switches say: no reader can do without. */
#define BIT(id) (1ull << TRACE_ID_MINOR(id))
#define CHANGES                                                                                   \
    (BIT(TRACE_ID_TRACE_CONTROL) | BIT(TRACE_ID_TRACE_SAMPLING) | BIT(TRACE_ID_TRACE_THRESHOLD) | \
     BIT(TRACE_ID_TRACE_SWITCHES))

static void use(uint64_t mask, uint64_t own_switches)
{
    __atomic_store_n(&trace_info_page.switches[TRACE_CLASS_TRACE], own_switches, __ATOMIC_RELAXED);
    __atomic_store_n(&trace_info_page.mask, mask, __ATOMIC_RELAXED);
    trace_sites_agree();
}

static void use_for_changes(uint64_t mask)
{
    use(mask | 1ull << TRACE_CLASS_TRACE, trace_info_page.switches[TRACE_CLASS_TRACE] | CHANGES);
}

/* Logs the change while all events that it switches are off on every CPU: a reader's conclusions from these
 * events (which thread runs) do not hold across this event. */
static void log_change(uint64_t old_mask, uint64_t mask)
{
    const uint64_t own = trace_info_page.switches[TRACE_CLASS_TRACE];
    if (old_mask | mask) {
        use_for_changes(old_mask & mask);
        trace_trace_control(old_mask, mask, trace_info_page.mode, current_thread()->space->pid);
    }
    use(mask, own);
}

static uint64_t last_mask = ~0ull; /* before the mask became 0; relaxed */

static int64_t set_mask(uint64_t mask)
{
    spin_lock(&trace_lock);
    uint64_t old = trace_info_page.mask;
    if (old && !mask)
        __atomic_store_n(&last_mask, old, __ATOMIC_RELAXED);
    log_change(old, mask);
    spin_unlock(&trace_lock);
    if (!old && mask)
        trace_statedump();
    return 0;
}

/* Mode stream begins with the newest quarter of the ring, as far as it is not consumed yet, so that a
 * consumer of a full flight recorder gets a little history and no gap after it. Mode once begins with the
 * next event. Earlier ones may be overwritten, but until then a snapshot has them. */
static uint64_t first_packet(uint32_t cpu, uint64_t mode)
{
    const struct trace_info *info = &trace_info_page;
    const struct trace_reader reader = trace_reader_of(cpu);
    const uint64_t head = trace_trusted_head(cpu);
    const uint64_t history = mode == TRACE_MODE_STREAM ? trace_reader_ring_bytes(&reader) / 4 : 0;
    const uint64_t first = trace_reader_back(&reader, head, history);
    return first > info->consumed[cpu] ? first : info->consumed[cpu];
}

static int64_t set_mode(uint64_t mode)
{
    struct trace_info *info = &trace_info_page;
    if (mode > TRACE_MODE_ONCE)
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    if (trace_is_resizing()) {
        spin_unlock(&trace_lock);
        return -E_BUSY;
    }
    if (mode != info->mode) {
        for (uint32_t cpu = 0; cpu < info->cpu_count; cpu++)
            info->consumed[cpu] = first_packet(cpu, mode);
        __atomic_store_n(&info->mode, (uint32_t)mode, __ATOMIC_RELEASE);
        log_change(info->mask, info->mask);
        trace_store_refresh();
    }
    spin_unlock(&trace_lock);
    trace_tell_drain();
    return 0;
}

static int64_t set_switches(uint64_t class_number, uint64_t minors)
{
    if (class_number >= TRACE_CLASS_COUNT)
        return -E_BAD_ARGUMENT;
    uint64_t *switches = &trace_info_page.switches[class_number];
    spin_lock(&trace_lock);
    const uint64_t mask = trace_info_page.mask, old = *switches;
    __atomic_store_n(switches, old & minors, __ATOMIC_RELAXED);
    const uint64_t own = trace_info_page.switches[TRACE_CLASS_TRACE];
    if (mask && old != minors) { /* as log_change */
        use_for_changes(mask);
        trace_trace_switches((uint32_t)class_number, current_thread()->space->pid, old, minors);
    }
    __atomic_store_n(switches, minors, __ATOMIC_RELAXED);
    use(mask, class_number == TRACE_CLASS_TRACE ? minors : own);
    spin_unlock(&trace_lock);
    return 0;
}

/* Not inline: each copy has two sites. */
static __attribute__((noinline)) void log_limit(uint32_t id, bool is_threshold, uint32_t old, uint32_t now)
{
    if (is_threshold)
        trace_trace_threshold(TRACE_ID_CLASS(id), TRACE_ID_MINOR(id), old, now);
    else
        trace_trace_sampling(TRACE_ID_CLASS(id), TRACE_ID_MINOR(id), old, now);
}

/* The word with an event type's limit. NULL: it cannot have one. */
static uint32_t *find_limit(uint32_t id, bool is_threshold)
{
    for (uint32_t i = 0; i < TRACE_LIMITED_COUNT; i++)
        if (trace_limited[i].id == id && !trace_limited[i].above != is_threshold)
            return &trace_info_page.event_limit[i];
    return trace_find_app_limit(id, is_threshold);
}

static void set_limit(uint32_t *place, uint32_t id, bool is_threshold, uint32_t limit)
{
    const uint32_t old = __atomic_exchange_n(place, limit, __ATOMIC_RELAXED);
    const uint64_t mask = trace_info_page.mask, own = trace_info_page.switches[TRACE_CLASS_TRACE];
    trace_sites_agree();
    if (mask >> TRACE_ID_CLASS(id) & 1) {
        use_for_changes(mask);
        log_limit(id, is_threshold, old, limit);
        use(mask, own);
    }
}

static int64_t limit_events(uint64_t id, bool is_threshold, uint64_t limit)
{
    if (limit > (is_threshold ? UINT32_MAX : TRACE_SAMPLE_EVERY_MAX) || (!is_threshold && !limit))
        return -E_BAD_ARGUMENT;
    if (id > UINT32_MAX)
        return -E_NOT_FOUND;
    spin_lock(&trace_lock);
    uint32_t *place = find_limit((uint32_t)id, is_threshold);
    if (place)
        set_limit(place, (uint32_t)id, is_threshold, (uint32_t)limit);
    spin_unlock(&trace_lock);
    return place ? 0 : -E_NOT_FOUND;
}

static void dump_limit(uint32_t id, bool is_threshold, uint32_t limit)
{
    log_limit(id, is_threshold, limit, limit);
}

static void dump_limits(void)
{
    for (uint32_t i = 0; i < TRACE_LIMITED_COUNT; i++) {
        const uint32_t limit = __atomic_load_n(&trace_info_page.event_limit[i], __ATOMIC_RELAXED);
        if (limit > 1)
            dump_limit(trace_limited[i].id, trace_limited[i].above, limit);
    }
    spin_lock(&trace_lock);
    trace_for_each_app_limit(dump_limit);
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++) {
        const uint64_t on = trace_info_page.switches[i];
        if (~on)
            trace_trace_switches(i, 0, on, on);
    }
    spin_unlock(&trace_lock);
}

/* ---- sampled locks ---- */

/* The smallest N of the kernel's sampled classes. */
static uint32_t find_period(void)
{
    uint32_t least = UINT32_MAX;
    for (const struct lock_class *class = lock_class_first; class < lock_class_last; class ++) {
        const uint32_t every = lock_sample_every(class);
        if (class->number >= TARN_LOCK_CLASSES_USER && every && every < least)
            least = every;
    }
    return least == UINT32_MAX ? 0 : least;
}

static void restart_watch(void *unused)
{
    restart_lock_watch(&this_cpu()->lock_watch, find_period());
}

static void watch(bool watched)
{
    lock_is_watched = watched;
    trace_sites_agree();
}

static void log_lock_class(const struct lock_class *class)
{
    trace_state_lock_class(class->number, lock_sample_every(class),
                           class->is_event ? TRACE_STATE_EVENT : TRACE_STATE_LOCK, class->name);
}

static void set_sampling(struct lock_class *class, uint32_t every)
{
    const uint32_t most = every > LOCK_SAMPLE_MAX ? LOCK_SAMPLE_MAX : every;
    __atomic_store_n(&class->sample_every, most, __ATOMIC_RELAXED);
    if (every)
        __atomic_store_n(&trace_tables_in_use, true, __ATOMIC_RELAXED);
    if (class->number < TARN_LOCK_CLASSES_USER)
        __atomic_store_n(&trace_info_page.lock_sample[class->number], most, __ATOMIC_RELAXED);
    if (TRACE_ON_STATE())
        log_lock_class(class);
}

/* Samples one class of locks, or all; classes of programs, too. */
static int64_t sample_locks(uint64_t number, uint64_t every)
{
    int64_t error = -E_NOT_FOUND;
    if (every > UINT32_MAX)
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    for (struct lock_class *class = lock_class_first; class < lock_class_last; class ++)
        if (number == ~0ull || class->number == number) {
            set_sampling(class, (uint32_t)every);
            error = 0;
        }
    /* Sites switch one by one. Notes are made only while all of them are on, so that each release is looked
     * at. */
    const bool watched = find_period() != 0;
    if (watched)
        watch(true);
    trace_on_every_cpu(restart_watch); /* each reads all classes, after the last change of one */
    if (!watched)
        watch(false);
    spin_unlock(&trace_lock);
    return error;
}

/* ---- rings ---- */

static int64_t set_geometry(uint64_t buffer_bytes, uint64_t buffer_count)
{
    if (!buffer_bytes && !buffer_count) {
        buffer_bytes = TRACE_BUFFER_BYTES_DEFAULT;
        buffer_count = trace_boot_buffers;
    }
    if (!trace_geometry_is_valid(buffer_bytes, buffer_count))
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    int result = trace_set_geometry(buffer_bytes, buffer_count);
    spin_unlock(&trace_lock);
    if (result <= 0)
        trace_tell_drain(); /* of the new sizes, or to give more back (ring_wanted) */
    return result;
}

static int64_t clear(void)
{
    spin_lock(&trace_lock);
    const bool may = !trace_is_resizing();
    if (may)
        trace_clear();
    spin_unlock(&trace_lock);
    if (!may)
        return -E_BUSY;
    trace_statedump();
    trace_tell_drain();
    return 0;
}

static bool has_content(uint32_t cpu)
{
    const struct trace_control *control = trace_control_of(trace_ring(cpu));
    const uint64_t index = __atomic_load_n(&control->index, __ATOMIC_RELAXED);
    return trace_index_open_words(index, trace_info_page.buffer_mask + 1) >
           TRACE_PACKET_WORDS + TRACE_CONTEXT_WORDS;
}

static void flush_own(void *closed)
{
    if (trace_ring_flush(trace_ring(this_cpu()->index)))
        __atomic_fetch_add((int64_t *)closed, 1, __ATOMIC_RELAXED);
    trace_check_mark();
}

/* Returns the number of packets closed. Each CPU closes its own: another CPU's clock reading may be later
 * than the time that this CPU has already read for its next event. */
static int64_t flush(uint64_t which)
{
    if (which != ~0ull && which >= trace_info_page.cpu_count)
        return -E_BAD_ARGUMENT;
    uint64_t wanted = which == ~0ull ? ~0ull : 1ull << which, others = 0;
    int64_t closed = 0;
    wanted &= atomic_load_explicit(&sched_online_cpus, memory_order_relaxed);
    for (uint64_t left = wanted & ~this_cpu()->bit; left; left &= left - 1)
        if (has_content((uint32_t)__builtin_ctzll(left)))
            others |= left & -left;
    smp_call(others, flush_own, &closed);
    if (wanted & this_cpu()->bit)
        flush_own(&closed);
    return closed;
}

static int64_t trace_control(uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case TRACE_OP_SET_MASK:
        return set_mask(a);
    case TRACE_OP_START:
        return trace_info_page.mask ? 0 : set_mask(__atomic_load_n(&last_mask, __ATOMIC_RELAXED));
    case TRACE_OP_SET_MODE:
        return set_mode(a);
    case TRACE_OP_SET_SWITCHES:
        return set_switches(a, b);
    case TRACE_OP_SET_GEOMETRY:
        return set_geometry(a, b);
    case TRACE_OP_CLEAR:
        return clear();
    case TRACE_OP_FLUSH:
        return flush(a);
    case TRACE_OP_STATEDUMP:
        trace_statedump();
        return 0;
    case TRACE_OP_DROP_PREVIOUS:
        return trace_previous_drop(TRACE_TRACE_ASKED);
    case TRACE_OP_BENCH:
        return a == ~0ull ? trace_add_costs() : trace_bench(a);
    case TRACE_OP_SET_PROFILE:
        return b ? -E_BAD_ARGUMENT : profile_set(a);
    case TRACE_OP_SET_ROUTINES:
        if (a > ROUTINES_ALL || b)
            return -E_BAD_ARGUMENT;
        routines_switch((enum routines_level)a);
        return 0;
    case TRACE_OP_BIND_COUNTERS:
        return b ? -E_BAD_ARGUMENT : counters_bind(a);
    case TRACE_OP_SET_LOW_WATER:
        return b ? -E_BAD_ARGUMENT : trace_set_low_water(a);
    case TRACE_OP_SET_DRAIN:
        return a > UINT32_MAX ? -E_BAD_CAP : trace_set_drain((cap_t)a, b);
    case TRACE_OP_SAMPLE_EVENTS:
        return limit_events(a, false, b);
    case TRACE_OP_SET_THRESHOLD:
        return limit_events(a, true, b);
    case TRACE_OP_SAMPLE_LOCKS:
        return sample_locks(a, b);
    default:
        return -E_BAD_ARGUMENT;
    }
}

int64_t sys_trace_control(cap_t trace, uint32_t operation, uint64_t a, uint64_t b)
{
    int error = cap_check(trace, CAP_TRACE, RIGHT_WRITE);
    return error ? error : trace_control(operation, a, b);
}

/* In mode once, frees nothing: the ring must stop when it is full. */
int64_t sys_trace_consume(uint32_t cpu, uint64_t packet)
{
    struct trace_info *info = &trace_info_page;
    int error = 0;
    if (cpu >= info->cpu_count)
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    if (trace_is_resizing())
        error = -E_BUSY;
    else if (packet < info->consumed[cpu] || packet > trace_trusted_head(cpu))
        error = -E_BAD_ARGUMENT;
    else if (info->mode != TRACE_MODE_ONCE)
        /* release: the consumer has read the packet before a writer may take its buffer; pairs with the read
         * in packet_is_free() */
        __atomic_store_n(&info->consumed[cpu], packet, __ATOMIC_RELEASE);
    spin_unlock(&trace_lock);
    return error;
}

int64_t sys_trace_image(const char *user_path, uint64_t base, uint64_t size, const uint8_t *user_build_id)
{
    struct space *space = current_thread()->space;
    char path[sizeof(space->executable_path)];
    uint8_t build_id[16];
    int64_t error = user_read_string(path, user_path, sizeof(path));
    if (!error && strlen(path) == sizeof(path) - 1)
        error = -E_TOO_LARGE;
    if (!error)
        error = user_read(build_id, user_build_id, sizeof(build_id));
    if (error)
        return error;
    if (base >= USER_END || size > USER_END - base)
        return -E_BAD_ARGUMENT;
    spin_lock(&space->lock);
    memcpy(space->executable_path, path, sizeof(path));
    space->executable_base = base;
    space->executable_size = size;
    trace_build_id(build_id, space->build_id);
    trace_state_image(space->pid, base, size, space->build_id[0], space->build_id[1], path);
    spin_unlock(&space->lock);
    trace_process_exec(space->pid, base, path);
    return 0;
}

/* ---- statedump: existing processes, threads, lock classes, ..., so that a trace explains its numbers ----
 */

/* Lists are walked under their own locks. Objects that begin or end meanwhile log their own events; a reader
 * that uses both gets the correct state. */

/* The kernel's own executable, as process 0, with its file name as the path. */
static void dump_kernel(void)
{
    extern const char kernel_start[], kernel_end[]; /* kernel.ld */
    extern const uint8_t build_id_note[], build_id_note_end[];
    const uint64_t head = 3 * sizeof(uint32_t) + sizeof("GNU"); /* of an ELF note */
    uint64_t build_id[2] = {0};
    if ((uint64_t)build_id_note_end - (uint64_t)build_id_note >= head + sizeof(build_id))
        trace_build_id(build_id_note + head, build_id);
    trace_state_image(0, (uint64_t)kernel_start, (uint64_t)kernel_end - (uint64_t)kernel_start, build_id[0],
                      build_id[1], "tarn.elf");
}

static void dump_space(struct space *space)
{
    spin_lock(&space->lock);
    trace_state_process(space->pid, space->parent_pid, space->thread_count, space->name);
    if (space->executable_path[0])
        trace_state_image(space->pid, space->executable_base, space->executable_size, space->build_id[0],
                          space->build_id[1], space->executable_path);
    spin_unlock(&space->lock);
}

/* LTTng's numbers for states of threads. */
static uint32_t status_of(enum thread_state state)
{
    enum { WAITS_FOR_CPU = 2, WAITS = 5, DEAD = 7 };
    if (state == THREAD_RUNNING || state == THREAD_READY)
        return WAITS_FOR_CPU;
    return state == THREAD_DEAD ? DEAD : WAITS;
}

static void dump_thread(struct thread *thread, void *context)
{
    static const char no_name[TRACE_NAME_BYTES];
    struct cpu *cpu = atomic_load_explicit(&thread->cpu, memory_order_relaxed);
    const struct space *space = thread->space;
    enum thread_state state = atomic_load_explicit(&thread->state, memory_order_relaxed);
    trace_state_thread(thread->tid, space ? space->pid : 0, space ? space->parent_pid : 0, status_of(state),
                       thread->block ? thread->block->name : no_name, traced_state(state),
                       (uint16_t)thread->priority, cpu ? (uint16_t)cpu->index : 0);
}

void trace_statedump(void)
{
    static uint64_t count;
    if (!TRACE_ON_STATE())
        return;
    uint64_t number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); /* relaxed: only a number */
    __atomic_store_n(&trace_info_page.statedumps, (uint32_t)number, __ATOMIC_RELAXED);
    trace_state_begin(number);
    dump_kernel();
    for (struct space *space = space_next(NULL); space; space = space_next(space))
        dump_space(space);
    thread_for_each(dump_thread, NULL);
    for (const struct lock_class *class = lock_class_first; class < lock_class_last; class ++)
        log_lock_class(class);
    for (uint32_t irq = 0; irq < ARCH_IRQ_COUNT; irq++)
        if (irq_kind(irq))
            trace_state_irq(irq, irq_kind(irq));
    profile_statedump();
    dump_limits();
    counters_statedump();
    trace_state_end(number);
}

/* ---- boot options ---- */

/*
 * trace.NAME=A/B is the command NAME A B (trace/print/commands.h). trace.mask, trace.switch, trace.mode and
 * trace.low-water hold from the start of generic code (all is traced before it), others before a second CPU
 * starts. Programs' schemas are not known then.
 */

/* Before anything else runs: plain stores. */
static int64_t set_early(uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case TRACE_OP_SET_MASK:
        trace_info_page.mask = a;
        return 0;
    case TRACE_OP_SET_MODE:
        trace_info_page.mode = (uint32_t)a;
        return 0;
    case TRACE_OP_SET_LOW_WATER:
        trace_info_page.low_water = (uint32_t)a;
        return 0;
    case TRACE_OP_SET_SWITCHES:
        trace_trace_switches((uint32_t)a, 0, trace_info_page.switches[a], b); /* for readers */
        trace_info_page.switches[a] = b;
        return 0;
    default:
        return -E_UNSUPPORTED;
    }
}

/* Settings that need clock, rings and this CPU's thread */
static int64_t set_late(uint32_t operation, uint64_t a, uint64_t b)
{
    int64_t status;
    while ((status = trace_control(operation, a, b)) > 0 && operation == TRACE_OP_SET_GEOMETRY)
        ;
    return status;
}

static void ignore_text(struct trace_settings *settings, const char *format, ...)
{
}

static void execute(struct trace_settings *settings, char *option, char *value)
{
    char text[256], *words[TRACE_COMMAND_WORDS_MAX] = {option, value};
    uint32_t count = 2;
    format_text(text, sizeof text, "%s", value);
    for (char *at = value; *at && count < TRACE_COMMAND_WORDS_MAX; at++)
        if (*at == '/') {
            *at = 0;
            words[count++] = at + 1;
        }
    if (trace_command_run(settings, count, words))
        log_line("boot option trace.%s=%s: %s", option, text, settings->error);
}

/* Uses the early options, which must hold before the first events, or the late ones. */
static void use_options(int64_t (*control)(uint32_t operation, uint64_t a, uint64_t b), bool is_early)
{
    char option[32], value[256];
    struct trace_settings settings = trace_kernel_settings(control, ignore_text);
    for (uint32_t i = 0; i < trace_command_count; i++) {
        const struct trace_command *command = &trace_commands[i];
        format_text(option, sizeof option, "trace.%s=", command->name);
        if (command->is_setting && command->is_early == is_early &&
            boot_option(option, value, sizeof value)) {
            option[strlen(option) - 1] = 0;
            execute(&settings, option + strlen("trace."), value);
        }
    }
}

void trace_boot_options(void)
{
    use_options(set_early, true);
    trace_sites_agree();
}

void trace_boot_options_late(void)
{
    use_options(set_late, false);
}
