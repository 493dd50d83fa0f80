/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - `tarn profile`: what CPUs executed when they were sampled.
 *
 * A sample (profile_sample) represents the time that its CPU was not asleep since its last sample, so the
 * samples of a CPU add up to its working time. If the CPU counts instructions, samples represent those, too.
 * See kernel/diagnosis/profile.h for what is visible of the kernel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/analysis/flame.h>
#include <tools/tarn/analysis/kinds.h>
#include <tools/tarn/analysis/profile.h>
#include <tools/tarn/output.h>

#define CHAIN_MAX 256u

/* ---- the walk -------------------------------------------------------------------------------------- */

static uint64_t element(const struct field *field, const struct event *event, uint64_t i)
{
    return load64(event->bytes + field->offset + 8 * i, field->swap);
}

/* Whether NODE is the record that all chains beyond the map's limit share. */
static bool is_rest(const struct profile *profile, const struct stack_node *node)
{
    return profile->stacks.others != NULL && (const void *)node == profile->stacks.others->value;
}

/* The program is part of the key, because a process may execute another one later. */
static struct stack_node *root_of(struct profile *profile, uint32_t pid)
{
    const struct executable *program = executables_of(&profile->analysis.model->executables, pid);
    struct stack_node *node = map_at(&profile->stacks, 0, (uint64_t)(uintptr_t)program, pid);

    if (is_rest(profile, node))
        return node;
    node->pid = pid;
    node->executable = program;
    return node;
}

#define IS_KERNEL    0x100000000ull
#define IS_RETURN    0x200000000ull
#define IS_INNERMOST 0x400000000ull
#define IS_CUT       0x800000000ull

static struct stack_node *call_from(struct profile *profile, struct stack_node *outer, uint64_t address,
                                    uint64_t flags)
{
    struct stack_node *node =
        map_at(&profile->stacks, (uint64_t)(uintptr_t)outer, address, outer->pid | flags);

    if (node->outer == NULL && !is_rest(profile, node)) {
        node->outer = outer;
        node->address = address;
        node->pid = outer->pid;
        node->depth = outer->depth + 1;
        node->is_kernel = flags & IS_KERNEL;
        node->is_return = flags & IS_RETURN;
        node->is_innermost = flags & IS_INNERMOST;
        node->is_cut = flags & IS_CUT;
        node->executable =
            executables_find(&profile->analysis.model->executables, node->is_kernel ? 0 : node->pid, address);
    }
    return node;
}

/* The kernel's part is followed by the place in the program: the
 * return address of the system call, or the interrupted instruction. */
static uint64_t flags_of(uint64_t i, uint64_t mode, uint64_t kernel_count, uint64_t syscall_mode)
{
    if (mode == 0 || i > kernel_count)
        return IS_RETURN;
    if (i < kernel_count)
        return IS_KERNEL | IS_RETURN;
    return IS_INNERMOST | (mode == syscall_mode ? IS_RETURN : 0);
}

/* Adds the chain, outermost address first. */
static struct stack_node *take_chain(struct profile *profile, const struct event *event, uint32_t pid)
{
    uint64_t mode = field_integer(profile->mode, event->bytes);
    uint64_t count = field_count(profile->chain, event);
    uint64_t kernel_count = field_integer(profile->kernel_depth, event->bytes);
    struct stack_node *node = root_of(profile, pid);

    if (count > CHAIN_MAX || (profile->is_cut != NULL && field_integer(profile->is_cut, event->bytes) != 0))
        node = call_from(profile, node, 0, IS_CUT);
    for (uint64_t i = count < CHAIN_MAX ? count : CHAIN_MAX; i-- > 0;)
        node = call_from(profile, node, element(profile->chain, event, i),
                         flags_of(i, mode, kernel_count, profile->syscall_mode));
    return call_from(profile, node, field_integer(profile->ip, event->bytes),
                     IS_INNERMOST | (mode != 0 ? IS_KERNEL : 0));
}

static void on_sample(struct profile *profile, const struct event *event, const struct model_thread *thread)
{
    bool is_kernel = field_integer(profile->mode, event->bytes) != 0;
    struct sums sums = {1, analysis_ns(&profile->analysis, field_integer(profile->busy, event->bytes)),
                        field_integer(profile->instructions, event->bytes),
                        field_integer(profile->counted, event->bytes)};
    struct thread_sums *own = map_at(&profile->threads, thread->number, 0, 0);

    own->thread = thread;
    sums_add(is_kernel ? &own->kernel : &own->user, &sums);
    sums_add(is_kernel ? &profile->kernel : &profile->user, &sums);
    sums_add(&profile->whole, &sums);
    sums_add(&take_chain(profile, event, (uint32_t)field_integer(profile->pid, event->bytes))->self, &sums);
    distribution_add(&profile->late, &profile->analysis.arena,
                     field_integer(profile->lateness, event->bytes));
}

/* Returns the thread that a sample belongs to. During a switch, which is logged already, the kernel still
 * works for the old thread and on its stack; the sample names it. */
static const struct model_thread *sampled_thread(const struct profile *profile, const struct event *event,
                                                 const struct model_thread *running)
{
    uint32_t tid = (uint32_t)field_integer(profile->tid, event->bytes);
    const struct model_thread *thread =
        tid != 0 && tid != running->tid ? model_find_thread(profile->analysis.model, tid) : NULL;

    return thread != NULL ? thread : running;
}

static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct profile *profile = ANALYSIS_OF(self, struct profile);

    if (cursor->event.type == profile->sample) {
        thread = sampled_thread(profile, &cursor->event, thread);
        if (analysis_wants_event(&profile->analysis, cursor, thread))
            on_sample(profile, &cursor->event, thread);
    }
}

/* ---- opening, options ------------------------------------------------------------------------------ */

static bool find_fields(struct profile *profile)
{
    const struct {
        const struct field **field;
        const char *event, *name;
    } wanted[] = {
        {&profile->ip, "profile_sample", "ip"},
        {&profile->busy, "profile_sample", "busy"},
        {&profile->instructions, "profile_sample", "instructions"},
        {&profile->lateness, "profile_sample", "late"},
        {&profile->counted, "profile_sample", "counted"},
        {&profile->tid, "profile_sample", "tid"},
        {&profile->pid, "profile_sample", "pid"},
        {&profile->mode, "profile_sample", "mode"},
        {&profile->kernel_depth, "profile_sample", "kernel_depth"},
        {&profile->chain, "profile_sample", "chain"},
    };

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        *wanted[i].field = analysis_field(&profile->analysis, wanted[i].event, wanted[i].name);
        if (*wanted[i].field == NULL)
            return false;
    }
    profile->is_cut =
        analysis_field(&profile->analysis, "profile_sample", "is_cut"); /* not in older traces */
    profile->syscall_mode = field_label_value(profile->mode, "syscall", UINT64_MAX);
    return profile->chain->kind == FIELD_SEQUENCE && profile->chain->width == 8;
}

static bool open_profile(struct analysis *analysis, struct fail *fail)
{
    struct profile *profile = (struct profile *)analysis;

    analysis_map(analysis, &profile->stacks, sizeof(struct stack_node));
    analysis_map(analysis, &profile->threads, sizeof(struct thread_sums));
    analysis_map(analysis, &profile->lines, sizeof(struct line_sums));
    call_tree_open(&profile->calls, analysis);
    call_tree_open(&profile->callers, analysis);
    if (!find_fields(profile))
        return true; /* the system has no samples: the result is empty */
    profile->sample = schema_find_event(&analysis->trace->schema, "profile_sample");
    analysis->observer.event = on_event;
    return true;
}

static const char *const weight_words[] = {"source", "time", "samples", "instructions", "counted", NULL};

static bool set_least(void *context, const struct command_option *option, const char *value,
                      struct fail *fail)
{
    struct profile *profile = context;
    char *end;

    profile->least = strtod(value, &end);
    profile->has_least = true;
    return (end != value && *end == '\0' && profile->least >= 0 && profile->least <= 100) ||
           fail_set(fail, "expected a percentage");
}

static void finish_profile(struct analysis *analysis)
{
    struct profile *profile = (struct profile *)analysis;

    if (!profile->has_least)
        profile->least = 1;
    if (profile->whole.samples == 0)
        snprintf(
            analysis->note, sizeof(analysis->note),
            "the trace has no samples; to take them, boot the guest with trace.profile=1000 or use `tarn ctl "
            "SOURCE profile 1000`");
    else if (profile->weight == WEIGHT_INSTRUCTIONS && profile->whole.instructions == 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "the CPUs of this machine do not count instructions, so samples cannot be weighted by them");
    profile->period = analysis->model->sampling.period;
    if (profile->whole.counted != 0)
        profile->counter = arena_string(&analysis->arena, analysis->model->sampling.counter,
                                        strlen(analysis->model->sampling.counter));
    if (profile->weight == WEIGHT_UNSET)
        profile->weight = profile->counter != NULL ? WEIGHT_COUNTED : WEIGHT_TIME;
    else if (profile->weight == WEIGHT_COUNTED && profile->counter == NULL && profile->whole.samples != 0)
        snprintf(analysis->note, sizeof(analysis->note),
                 "the clock drove the sampling, so there are no counts; `tarn ctl SOURCE profile 1000000 "
                 "instructions` samples by a counter");
    profile->has_counter = analysis->model->sampling.counts_instructions;
    profile_fill(profile);
}

/* ---- other forms ----------------------------------------------------------------------------------- */

/* Writes one line per chain: functions separated by semicolons, a blank, the weight. */
static void put_folded(FILE *to, const struct call_node *node, enum weight weight, char *line, size_t length)
{
    static const size_t capacity = 65536;
    uint64_t self = sums_weight(&node->self, weight);

    if (self != 0)
        fprintf(to, "%.*s %" PRIu64 "\n", (int)length, line, self);
    for (const struct call_node *child = node->first; child != NULL; child = child->next) {
        size_t used = length;

        if (length + strlen(child->function->name) + sizeof("_[k];") >= capacity)
            continue;
        if (used > 0)
            line[used++] = ';';
        for (const char *at = child->function->name; *at != '\0'; at++)
            line[used++] = *at == ';' || *at == '\n' ? ':' : *at;
        if (child->function->is_kernel)
            used = (size_t)(stpcpy(line + used, "_[k]") - line);
        put_folded(to, child, weight, line, used);
    }
}

static bool write_flame(const struct profile *profile, FILE *to, struct fail *fail)
{
    const char *const of[] = {[WEIGHT_TIME] = "CPU time",
                              [WEIGHT_SAMPLES] = "Samples",
                              [WEIGHT_INSTRUCTIONS] = "Instructions",
                              [WEIGHT_COUNTED] = profile->counter != NULL ? profile->counter : "Counts"};
    bool has_file = strcmp(profile->flame, "-") != 0, ok;

    if (has_file)
        to = fopen(profile->flame, "w");
    if (to == NULL)
        return fail_set(fail, "%s: %s", profile->flame, strerror(errno));
    flame_print(to, &profile->calls, profile->weight, of[profile->weight]);
    ok = fflush(to) == 0 && !ferror(to);
    if (has_file)
        ok = ok && output_is_there(fileno(to), profile->flame);
    if (has_file)
        ok &= fclose(to) == 0;
    return ok || fail_set(fail, "%s: %s", profile->flame, strerror(errno));
}

static bool print_profile(struct analysis *analysis, FILE *to, bool *is_all, struct fail *fail)
{
    struct profile *profile = (struct profile *)analysis;
    char *line;

    *is_all = profile->folded || profile->flame != NULL;
    if (profile->flame != NULL && !write_flame(profile, to, fail))
        return false;
    if (!profile->folded)
        return true;
    line = alloc_zero(1, 65536);
    put_folded(to, &profile->calls.root, profile->weight, line, 0);
    free(line);
    return true;
}

static const struct command_option options[] = {
    {WORD("weight", "WHAT", struct profile, weight, weight_words,
          "weight of a sample: time, samples, instructions (if the CPUs count them), counted (what the "
          "hardware counter counted that drove the sampling), or source: counted if a counter drove it, else "
          "time (the default)\nIt applies to shares, folded stacks and flame graphs")},
    {CALL("least", "PERCENT", set_least, "omit branches of calls and callers below this share (1)")},
    {FLAG("folded", struct profile, folded,
          "print folded stacks: one line per call chain, with its weight (times in nanoseconds)\nFunctions "
          "are separated by semicolons; those of the kernel end in `_[k]`"),
     .is_extra = true},
    {TEXT("flame", "FILE", struct profile, flame,
          "write a flame graph as SVG; -: standard output\nIn a browser, a click zooms in to a box, and `/` "
          "searches"),
     .is_extra = true},
    {.name = NULL}};

const struct analysis_kind profile_analysis = {
    .name = "profile",
    .summary = "where CPUs spent their time, by sampling: functions, lines, call chains",
    .options = options,
    .tables = profile_tables,
    .table_count = PROFILE_TABLES,
    .totals = &profile_totals,
    .uses_symbols = true,
    .size = sizeof(struct profile),
    .open = open_profile,
    .finish = finish_profile,
    .print = print_profile,
};
