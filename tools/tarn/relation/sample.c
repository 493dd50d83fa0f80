/*
 * sample.c - the relations `sample` and `sample_frame`: what CPUs executed when they were sampled, and the
 * functions of each chain of calls.
 *
 * A sample (profile_sample) represents the time that its CPU was not asleep since its last sample, so the
 * samples of a CPU add up to its working time. If the CPU counts instructions, samples represent those, too.
 * See kernel/diagnosis/profile.h for what is visible of the kernel. During the walk, chains are stored as a
 * tree of addresses, so a sample costs one look-up per address. Symbols are looked up afterwards.
 */
#include <stdio.h>
#include <tools/tarn/relation/maker.h>
#include <tools/tarn/symbols/symbols.h>

#define CHAIN_MAX 256u

enum { SAMPLE, FRAME };

enum { SAMPLES, NS, OF_INSTRUCTIONS, OF_COUNTED, SUMS };
enum { TID, PID, MODE, IP, KERNEL_DEPTH, BUSY, LATE, INSTRUCTIONS, COUNTED, CHAIN, FIELDS };
static const char *const field_names[FIELDS] = {"tid",  "pid",  "mode",         "ip",      "kernel_depth",
                                                "busy", "late", "instructions", "counted", "chain"};

/* Flags of an address in a chain. */
#define IS_KERNEL    0x100000000ull
#define IS_RETURN    0x200000000ull /* a return address: take the symbol of the call before it */
#define IS_INNERMOST 0x400000000ull /* of the kernel's or the program's part of the chain */
#define IS_CUT       0x800000000ull /* no address: stands for calls that the sample lacks */

/* An address in a chain, called from `outer`. */
struct stack_node {
    const struct stack_node *outer; /* NULL: a process */
    const struct executable *executable;
    uint64_t address, flags;
    uint32_t pid;
    uint64_t self[SUMS];
};

struct sampling {
    struct making making; /* first */
    struct map stacks;    /* struct stack_node by outer node, address, and pid with flags */
    const struct event_type *sample;
    const struct field *fields[FIELDS], *is_cut; /* is_cut: NULL in older traces */
    uint64_t syscall_mode; /* value of `mode`; UINT64_MAX: the trace does not distinguish system calls */
};

/* ---- the walk -------------------------------------------------------------------------------------- */

/* Whether NODE is the record that all chains beyond the map's limit share. */
static bool is_rest(const struct sampling *sampling, const struct stack_node *node)
{
    return sampling->stacks.others != NULL && (const void *)node == sampling->stacks.others->value;
}

/* The program is part of the key, because a process may execute another one later. */
static struct stack_node *root_of(struct sampling *sampling, uint32_t pid)
{
    const struct executable *program = executables_of(&sampling->making.analysis->model->executables, pid);
    struct stack_node *node = map_at(&sampling->stacks, 0, (uint64_t)(uintptr_t)program, pid);
    if (is_rest(sampling, node))
        return node;
    node->pid = pid;
    node->executable = program;
    return node;
}

static struct stack_node *call_from(struct sampling *sampling, struct stack_node *outer, uint64_t address,
                                    uint64_t flags)
{
    struct stack_node *node =
        map_at(&sampling->stacks, (uint64_t)(uintptr_t)outer, address, outer->pid | flags);
    if (node->outer != NULL || is_rest(sampling, node))
        return node;
    *node = (struct stack_node){.outer = outer, .address = address, .flags = flags, .pid = outer->pid};
    node->executable = executables_find(&sampling->making.analysis->model->executables,
                                        flags & IS_KERNEL ? 0 : node->pid, address);
    return node;
}

/* The kernel's part is followed by the system call's return address, or the interrupted instruction. */
static uint64_t flags_of(uint64_t i, uint64_t mode, uint64_t kernel_count, uint64_t syscall_mode)
{
    if (mode == 0 || i > kernel_count)
        return IS_RETURN;
    if (i < kernel_count)
        return IS_KERNEL | IS_RETURN;
    return IS_INNERMOST | (mode == syscall_mode ? IS_RETURN : 0);
}

/* Adds the chain, outermost address first. */
static struct stack_node *take_chain(struct sampling *sampling, const struct event *event, uint32_t pid)
{
    uint64_t mode = field_integer(sampling->fields[MODE], event->bytes);
    const struct field *chain = sampling->fields[CHAIN];
    uint64_t count = field_count(chain, event);
    uint64_t kernel_count = field_integer(sampling->fields[KERNEL_DEPTH], event->bytes);
    struct stack_node *node = root_of(sampling, pid);
    if (count > CHAIN_MAX || (sampling->is_cut != NULL && field_integer(sampling->is_cut, event->bytes) != 0))
        node = call_from(sampling, node, 0, IS_CUT);
    for (uint64_t i = count < CHAIN_MAX ? count : CHAIN_MAX; i-- > 0;)
        node = call_from(sampling, node, load64(event->bytes + chain->offset + 8 * i, chain->swap),
                         flags_of(i, mode, kernel_count, sampling->syscall_mode));
    return call_from(sampling, node, field_integer(sampling->fields[IP], event->bytes),
                     IS_INNERMOST | (mode != 0 ? IS_KERNEL : 0));
}

/* clang-format off */
#define SAMPLE_COLUMNS(C) \
    C("ts", WHEN, WHEN(cursor->ticks), "when the sample was taken") \
    C("dur", NUMBER, NUMBER(sums[NS]), "time that it represents, in nanoseconds") \
    C("cpu", NUMBER, NUMBER(cursor->stream->cpu), "CPU that was sampled") \
    C("utid", NUMBER, THREAD_OF(thread), "thread that ran") \
    C("is_kernel", NUMBER, NUMBER(values[MODE] != 0), "1: the kernel ran") \
    C("ip", ADDRESS, HEX(values[IP]), "address of the instruction") \
    C("chain", TEXT, value_of_field(sampling->fields[CHAIN], event, making->relations->list_text), \
      "return addresses, innermost first: those in the kernel, then those in the program") \
    C("instructions", NUMBER, NUMBER(sums[OF_INSTRUCTIONS]), \
      "instructions that it represents, if the CPU counts them") \
    C("counted", NUMBER, NUMBER(sums[OF_COUNTED]), "count of the hardware counter that drove the sampling") \
    C("late_dur", SPAN, SPAN(values[LATE]), "delay until it was taken")
/* clang-format on */

/* The thread that a sample names is another than the running one during a switch, which is logged already:
 * the kernel still works for the old thread and on its stack. */
static void on_event(struct model_observer *self, const struct cursor *cursor,
                     const struct model_thread *thread)
{
    struct sampling *sampling = MAKING_OF(self, struct sampling);
    struct making *making = &sampling->making;
    const struct event *event = &cursor->event;
    const struct model_thread *named = NULL;
    struct stack_node *node = NULL;
    uint64_t values[CHAIN];
    if (event->type != sampling->sample)
        return;
    for (unsigned i = 0; i < CHAIN; i++)
        values[i] = field_integer(sampling->fields[i], event->bytes);
    if ((uint32_t)values[TID] != 0 && (uint32_t)values[TID] != thread->tid)
        named = thread_find(making->analysis->model, (uint32_t)values[TID], 0);
    thread = named != NULL ? named : thread;
    if (!analysis_wants_event(making->analysis, cursor, thread))
        return;
    const uint64_t sums[SUMS] = {1, analysis_ns(making->analysis, values[BUSY]), values[INSTRUCTIONS],
                                 values[COUNTED]};
    if (making->sinks[FRAME] != NULL)
        node = take_chain(sampling, event, (uint32_t)values[PID]);
    for (unsigned i = 0; node != NULL && i < SUMS; i++)
        node->self[i] += sums[i];
    if (making->sinks[SAMPLE] != NULL)
        MAKING_GIVE(making, SAMPLE, cursor->ticks, SAMPLE_COLUMNS);
}

static void open_sampling(struct making *making)
{
    struct sampling *sampling = (struct sampling *)making;
    struct analysis *analysis = making->analysis;
    const struct field *chain;
    analysis_map(analysis, &sampling->stacks, sizeof(struct stack_node));
    sampling->sample = analysis_fields(analysis, "profile_sample", field_names, FIELDS, sampling->fields);
    chain = sampling->fields[CHAIN];
    if (sampling->sample == NULL || chain->kind != FIELD_SEQUENCE || chain->width != 8)
        return; /* the system has no samples: no rows */
    sampling->is_cut = analysis_field(analysis, "profile_sample", "is_cut");
    sampling->syscall_mode = field_label_value(sampling->fields[MODE], "syscall", UINT64_MAX);
    making->observer.event = on_event;
}

/* ---- chains of functions --------------------------------------------------------------------------- */

/* A chain whose frames are given, innermost first. */
struct chain {
    struct making *making;
    const struct stack_node *sampled;
    uint64_t number, level; /* level: of the next frame */
};

/* clang-format off */
#define FRAME_COLUMNS(C) \
    C("stack", NUMBER, NUMBER(chain->number), "number of the chain of calls") \
    C("level", NUMBER, NUMBER(chain->level++), \
      "0: the function that was sampled, 1: its caller, ...; the last one is the process") \
    C("name", TEXT, STRING(name), "name of the function, or of the process") \
    C("executable", TEXT, STRING(at->executable != NULL ? executable_name(at->executable) : ""), \
      "file name of its executable; empty: a process") \
    C("is_kernel", NUMBER, is_kernel, "1: the kernel's; empty: a process") \
    C("file", TEXT, STRING(at->line != 0 ? at->file : NULL), "source file") \
    C("line", NUMBER, IF(at->line != 0 && at->file != NULL, NUMBER(at->line)), "line") \
    C("samples", NUMBER, NUMBER(sums[SAMPLES]), "number of samples with this chain") \
    C("dur", NUMBER, NUMBER(sums[NS]), "time that they represent, in nanoseconds") \
    C("instructions", NUMBER, NUMBER(sums[OF_INSTRUCTIONS]), \
      "instructions that they represent, if the CPUs count them") \
    C("counted", NUMBER, NUMBER(sums[OF_COUNTED]), "count of the hardware counter that drove the sampling")
/* clang-format on */

/* SYMBOL: NULL: the frame has no code. Of a process, is_kernel is unknown. */
static void give_frame(struct chain *chain, const char *name, const struct symbol *symbol,
                       struct value is_kernel)
{
    static const struct symbol nowhere;
    const uint64_t *sums = chain->sampled->self;
    const struct symbol *at = symbol != NULL ? symbol : &nowhere;
    MAKING_GIVE(chain->making, FRAME, chain->making->analysis->from, FRAME_COLUMNS);
}

static const struct executable *executable_of(const struct sampling *sampling, const struct stack_node *node)
{
    if (node->executable != NULL) /* otherwise the statedump may have named it later */
        return node->executable;
    return executables_find(&sampling->making.analysis->model->executables,
                            node->flags & IS_KERNEL ? 0 : node->pid, node->address);
}

/* Returns the address of NODE's call, or of its instruction. */
static uint64_t place_of(const struct stack_node *node)
{
    return node->address - (node->flags & IS_RETURN ? 1 : 0);
}

static const struct symbol *symbol_of(struct sampling *sampling, const struct stack_node *node,
                                      struct symbol *none)
{
    const struct executable *executable = executable_of(sampling, node);
    if (sampling->making.analysis->symbols != NULL)
        return symbols_find(sampling->making.analysis->symbols, executable, place_of(node));
    *none = (struct symbol){.executable = executable,
                            .offset = executable != NULL ? node->address - executable->base : node->address};
    return none;
}

/* Whether NODE, which follows INNER in the chain, is its caller. */
static bool is_caller(const struct sampling *sampling, const struct stack_node *node,
                      const struct stack_node *inner)
{
    return sampling->making.analysis->symbols != NULL &&
           symbols_is_caller(sampling->making.analysis->symbols, executable_of(sampling, inner),
                             place_of(inner), executable_of(sampling, node), node->address);
}

/* Whether NODE, which follows CALLER, is stale. CALLER was found in the link register. If the function had
 * made its frame but not yet stored the register, the frame's return address is left from an earlier call by
 * the same caller, or invalid. */
static bool is_stale(struct sampling *sampling, const struct stack_node *node,
                     const struct stack_node *caller)
{
    const struct symbol *symbol, *inner;
    struct symbol none;
    if (executable_of(sampling, node) == NULL)
        return true;
    symbol = symbol_outermost(symbol_of(sampling, node, &none));
    inner = symbol_outermost(symbol_of(sampling, caller, &none));
    return symbol->function != NULL && inner->function != NULL && symbol->executable == inner->executable &&
           strcmp(symbol->function, inner->function) == 0;
}

/* Whether NODE belongs to the chain. BEHIND: the two nodes before it, nearest first. */
static bool is_in_chain(struct sampling *sampling, const struct stack_node *node,
                        const struct stack_node *const behind[2])
{
    const struct stack_node *inner = behind[0], *innermost = behind[1];
    if (inner == NULL || ((inner->flags ^ node->flags) & IS_KERNEL) != 0)
        return true;
    if (inner->flags & IS_INNERMOST)
        return is_caller(sampling, node, inner);
    if (innermost == NULL || ((innermost->flags ^ node->flags) & IS_KERNEL) != 0 ||
        !(innermost->flags & IS_INNERMOST))
        return true;
    return !is_caller(sampling, inner, innermost) || !is_stale(sampling, node, inner);
}

/* A sample at a place where the kernel enables interrupts, or sleeps, was due before
 * (kernel/diagnosis/profile.h). */
static const char *name_of(const struct stack_node *node, const struct symbol *symbol, char *text)
{
    const char *name = symbol_name(symbol, node->address, text);
    bool was_due = node->flags & IS_KERNEL && node->flags & IS_INNERMOST &&
                   (strcmp(name, "profile_open_window") == 0 || strcmp(name, "profile_sleep") == 0);
    return was_due ? "(interrupts disabled)" : name;
}

/* The process is the outermost frame. */
static void give_chain(struct sampling *sampling, const struct stack_node *node, uint64_t number)
{
    struct chain chain = {.making = &sampling->making, .sampled = node, .number = number};
    const struct stack_node *behind[2] = {NULL, NULL};
    const struct symbol *symbol;
    struct symbol none;
    char text[SYMBOL_NAME_BYTES];
    for (; node->outer != NULL; node = node->outer) {
        if (node->flags & IS_CUT) {
            give_frame(&chain, "(calls cut off)", NULL, VALUE_NUMBER(false));
            continue;
        }
        symbol = is_in_chain(sampling, node, behind) ? symbol_of(sampling, node, &none) : NULL;
        for (; symbol != NULL; symbol = symbol->outer)
            give_frame(&chain, name_of(node, symbol, text), symbol,
                       VALUE_NUMBER((node->flags & IS_KERNEL) != 0));
        behind[1] = behind[0];
        behind[0] = node;
    }
    give_frame(&chain, analysis_process_name(sampling->making.analysis, node->pid), NULL, NOTHING);
}

static void finish_sampling(struct making *making)
{
    struct sampling *sampling = (struct sampling *)making;
    for (size_t i = 0; i < sampling->stacks.count; i++) {
        const struct stack_node *node = map_value(&sampling->stacks, i);
        if (node->self[SAMPLES] != 0 && node->outer != NULL)
            give_chain(sampling, node, i);
    }
}

const struct maker sample_maker = {
    .relations = {MADE_RELATION("sample", "code that CPUs executed when they were sampled", SAMPLE_COLUMNS),
                  MADE_RELATION("sample_frame", "functions in the chains of calls that were sampled",
                                FRAME_COLUMNS)},
    .size = sizeof(struct sampling),
    .open = open_sampling,
    .finish = finish_sampling,
};
