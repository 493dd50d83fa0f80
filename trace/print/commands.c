/* trace/print/commands.c - the commands that show and set the trace's settings; see commands.h. */
#include "trace/events.h" /* generated */
#include <tarn/abi.h>
#include <tarn/error.h>
#include <tarn/trace_control.h>
#include <trace/print/commands.h>

#define NAME_MAX 16u /* of an argument */

/* ---- errors --------------------------------------------------------------------------------------- */

#define JOIN_ERROR(to, ...) TRACE_JOIN(to, TRACE_COMMAND_ERROR_MAX, __VA_ARGS__)

/* The name of argument `index`, as in "[EVENTS N]". */
static void find_name(const struct trace_command *command, uint32_t index, char name[NAME_MAX])
{
    struct trace_text text = {name, NAME_MAX - 1, 0};
    const char *at = command->arguments;
    for (; index; index--)
        while (*at++ != ' ')
            ;
    for (; *at && *at != ' '; at++)
        if (*at != '[' && *at != ']')
            trace_text_char(&text, *at);
    name[text.length] = 0;
}

/* "sample: N '0' must be ..." */
static int64_t refuse_word(struct trace_settings *settings, int64_t status, uint32_t index, const char *why)
{
    char name[NAME_MAX];
    find_name(settings->command, index, name);
    JOIN_ERROR(settings->error, settings->command->name, ": ", name, " '", settings->words[index], "' ", why);
    return status;
}

static int64_t expect(struct trace_settings *settings, uint32_t index, bool is_good, const char *why)
{
    return is_good ? 0 : refuse_word(settings, -E_BAD_ARGUMENT, index, why);
}

static int64_t control(struct trace_settings *settings, uint32_t operation, uint64_t a, uint64_t b)
{
    const struct trace_command *command = settings->command;
    const int64_t status = settings->control(operation, a, b);
    if (status >= 0)
        return 0;
    JOIN_ERROR(settings->error, command->name, ": ",
               status == command->refusal ? command->reason : tarn_error_text(status));
    return status;
}

static int64_t refuse_without_counters(struct trace_settings *settings)
{
    char reason[120] = "";
    settings->read(SYSTEM_COUNTERS_MISSING, 0, reason, sizeof(reason) - 1);
    JOIN_ERROR(settings->error, settings->command->name,
               ": the CPUs have no hardware counters that the system can use: ", reason);
    return -E_UNSUPPORTED;
}

/* ---- arguments ------------------------------------------------------------------------------------- */

static bool is_number(const char *word, uint64_t *number)
{
    return trace_parse_number(word, __builtin_strlen(word), number);
}

static bool is_power_of_two(uint64_t number, uint64_t least, uint64_t most)
{
    return number >= least && number <= most && !(number & (number - 1));
}

#define PARSE_NUMBER(name, is_good, why)                                                               \
    static int64_t name(struct trace_settings *settings, uint32_t index, uint64_t *number)             \
    {                                                                                                  \
        return expect(settings, index, is_number(settings->words[index], number) && (is_good), (why)); \
    }
_Static_assert(TRACE_SAMPLE_EVERY_MAX == 16777216, "as the message says");
PARSE_NUMBER(parse_number, true, "must be a number")
PARSE_NUMBER(parse_every, *number > 0 && *number <= TRACE_SAMPLE_EVERY_MAX,
             "must be 1 to 16777216: one event in so many is logged")
PARSE_NUMBER(parse_interval, *number <= UINT32_MAX,
             "must be 0 to 4294967295: one acquisition in so many is sampled")
PARSE_NUMBER(parse_percent, *number <= 100, "must be a percentage of a ring, 0 to 100")
PARSE_NUMBER(parse_size, is_power_of_two(*number, TRACE_BUFFER_BYTES_MIN, TRACE_BUFFER_BYTES_MAX),
             "must be a power of two from 16k to 4m")

/* In ticks, rounded up. */
static int64_t parse_threshold(struct trace_settings *settings, uint32_t index, uint64_t *ticks)
{
    const uint64_t hz = settings->info->clock_hz;
    const char *word = settings->words[index];
    uint64_t ns = 0;
    if (!trace_is_same(word, "0") && !trace_parse_duration(word, __builtin_strlen(word), &ns))
        return refuse_word(settings, -E_BAD_ARGUMENT, index,
                           "must be a duration, such as 500ns, 10us, 2ms or 1s; 0: log all");
    const bool is_short =
        !__builtin_mul_overflow(ns / 1000000000, hz, ticks) &&
        !__builtin_add_overflow(*ticks, (ns % 1000000000 * hz + 999999999) / 1000000000, ticks) &&
        *ticks <= UINT32_MAX;
    return expect(settings, index, is_short, "is too long");
}

static int64_t parse_mask(struct trace_settings *settings, uint32_t index, uint64_t *mask)
{
    const char *bad;
    *mask = settings->info->mask;
    if (trace_parse_mask(settings->words[index], settings->find_class, mask, &bad))
        return 0;
    JOIN_ERROR(settings->error, "mask: '", bad,
               "' is no event class; mask without an argument lists the classes");
    return -E_NOT_FOUND;
}

/* The number of a word among off, on, all. */
static int64_t parse_choice(struct trace_settings *settings, uint32_t index, uint32_t count, const char *why,
                            uint64_t *value)
{
    static const char *const choices[] = {"off", "on", "all"};
    for (*value = 0; *value < count; ++*value)
        if (trace_is_same(settings->words[index], choices[*value]))
            return 0;
    return refuse_word(settings, -E_BAD_ARGUMENT, index, why);
}

static int64_t parse_on(struct trace_settings *settings, uint32_t index, uint64_t *on)
{
    return parse_choice(settings, index, 2, "must be on or off", on);
}

static int64_t parse_level(struct trace_settings *settings, uint32_t index, uint64_t *level)
{
    return parse_choice(settings, index, 3, "must be on, all or off", level);
}

static int64_t parse_mode(struct trace_settings *settings, uint32_t index, uint64_t *mode)
{
    uint32_t number = 0;
    const bool is_good = trace_parse_mode(settings->words[index], &number);
    *mode = number;
    return expect(settings, index, is_good, "must be flight, stream or once");
}

/* `boot`: 0 */
static int64_t parse_count(struct trace_settings *settings, uint32_t index, uint64_t *count)
{
    const char *word = settings->words[index];
    _Static_assert(TRACE_RING_BYTES_MAX / TRACE_BUFFER_BYTES_MIN == 32768, "as the message says");
    *count = 0;
    if (settings->count == 1 && trace_is_same(word, "boot"))
        return 0;
    return expect(settings, index,
                  is_number(word, count) &&
                      is_power_of_two(*count, 2, TRACE_RING_BYTES_MAX / TRACE_BUFFER_BYTES_MIN),
                  "must be a power of two from 2 to 32768, or `boot`");
}

static uint32_t find_counter(const void *context, const char *name, uint64_t length)
{
    struct system_counter counter;
    for (uint32_t i = 0; trace_read_counter((struct trace_settings *)context, i, &counter); i++)
        if (trace_is_word(name, length, counter.name))
            return counter.number + 1;
    return 0;
}

static int64_t refuse_counters(struct trace_settings *settings, uint32_t index, const char *why)
{
    struct system_counter counter;
    char known[256];
    struct trace_text text = {known, sizeof(known) - 1, 0};
    trace_text_add(&text, why);
    for (uint32_t i = 0; trace_read_counter(settings, i, &counter); i++) {
        trace_text_add(&text, " ");
        trace_text_add(&text, counter.name);
    }
    trace_text_finish(&text);
    return refuse_word(settings, -E_NOT_FOUND, index, known);
}

static int64_t parse_counters(struct trace_settings *settings, uint32_t index, uint64_t *packed)
{
    const char *bad;
    _Static_assert(TRACE_COUNTER_SLOTS == 4, "as the message says");
    return trace_parse_counters(settings->words[index], find_counter, settings, packed, &bad)
               ? 0
               : refuse_counters(settings, index, "must be none, or up to 4 different ones of");
}

/* ---- what commands do ------------------------------------------------------------------------------ */

/* The events with the names in the first word. */
static int64_t find_events(struct trace_settings *settings, bool on, uint64_t switches[TRACE_CLASS_COUNT])
{
    const char *bad;
    if (trace_switch_events(settings->words[0], settings->find_event, on, switches, &bad))
        return 0;
    JOIN_ERROR(settings->error, settings->command->name, ": '", bad,
               "': no event has that name; mask without an argument lists the classes");
    return -E_NOT_FOUND;
}

static int64_t switch_events(struct trace_settings *settings, const uint64_t values[2])
{
    const struct trace_info *info = settings->info;
    uint64_t switches[TRACE_CLASS_COUNT];
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT; i++)
        switches[i] = info->switches[i];
    int64_t status = find_events(settings, values[1], switches);
    for (uint32_t i = 0; i < TRACE_CLASS_COUNT && !status; i++)
        if (switches[i] != info->switches[i])
            status = control(settings, TRACE_OP_SET_SWITCHES, i, switches[i]);
    return status;
}

/* Sets the limit of events that can be limited so; others with such a name stay as they are. */
static int64_t limit_events(struct trace_settings *settings, const uint64_t values[2])
{
    const bool is_threshold = settings->command->operation == TRACE_OP_SET_THRESHOLD;
    const enum trace_limit_kind kind = is_threshold ? TRACE_LIMIT_ABOVE : TRACE_LIMIT_SAMPLED;
    uint64_t meant[TRACE_CLASS_COUNT] = {0};
    bool any = false;
    int64_t status = find_events(settings, true, meant);
    for (uint32_t place = 0; place < TRACE_PLACES && !status; place++) {
        const struct trace_event_info *event = trace_event_at(settings, place);
        if (!event || event->limit_kind != kind ||
            !(meant[place / TRACE_MINORS_SWITCHED] >> place % TRACE_MINORS_SWITCHED & 1))
            continue;
        any = true;
        status = control(settings, settings->command->operation, event->id, values[1]);
    }
    if (status || any)
        return status;
    return refuse_word(settings, -E_NOT_FOUND, 0,
                       is_threshold
                           ? "names no event with a threshold; threshold without an argument lists them"
                           : "names no event that can be sampled; sample without an argument lists them");
}

static int64_t set_buffers(struct trace_settings *settings, const uint64_t values[2])
{
    const uint64_t count = values[0], size = !count                 ? 0
                                             : settings->count == 2 ? values[1]
                                                                    : trace_buffer_bytes(settings->info);
    if (count && count > TRACE_RING_BYTES_MAX / size)
        return refuse_word(settings, -E_BAD_ARGUMENT, 0, "is too many: a ring has at most 512 MiB");
    return control(settings, TRACE_OP_SET_GEOMETRY, size, count);
}

static int64_t set_profile(struct trace_settings *settings, const uint64_t values[2])
{
    uint64_t period = values[0];
    if (__builtin_mul_overflow(period, 1000, &period))
        period = ~0ull;
    const int64_t status = control(settings, TRACE_OP_SET_PROFILE, period, 0);
    return status == -E_BAD_ARGUMENT
               ? refuse_word(settings, status, 0, "must be 0, or 20 to 10000000 microseconds")
               : status;
}

static int64_t bind_counters(struct trace_settings *settings, const uint64_t values[2])
{
    const int64_t status = control(settings, TRACE_OP_BIND_COUNTERS, values[0], 0);
    if (!status && values[0] && !(settings->info->mask >> settings->find_class("counter", 7) & 1))
        settings->print(settings,
                        "class counter is not traced: mask +counter logs what these counters count\n");
    return status;
}

/* Spaces in a name may be written as underscores. */
static bool is_lock_class(const char *name, const char *word)
{
    for (; *name && (*name == *word || (*name == ' ' && *word == '_')); name++)
        word++;
    return !*name && !*word;
}

/* Several classes may have the same name: one of the kernel and one of its port. */
static int64_t sample_locks(struct trace_settings *settings, const uint64_t values[2])
{
    const uint64_t every = settings->count == 2 ? values[1] : 1;
    struct system_lock_class class;
    bool any = false;
    int64_t status = 0;
    if (trace_is_same(settings->words[0], "none"))
        return control(settings, TRACE_OP_SAMPLE_LOCKS, ~0ull, 0);
    if (trace_is_same(settings->words[0], "all"))
        return control(settings, TRACE_OP_SAMPLE_LOCKS, ~0ull, every);
    for (uint32_t i = 0; !status && trace_read_lock_class(settings, i, &class); i++) {
        if (!is_lock_class(class.name, settings->words[0]))
            continue;
        any = true;
        status = control(settings, TRACE_OP_SAMPLE_LOCKS, class.number, every);
    }
    return any ? status
               : refuse_word(settings, -E_NOT_FOUND, 0,
                             "is no lock class; watch without an argument lists the classes");
}

/* ---- the commands ---------------------------------------------------------------------------------- */

const struct trace_command trace_commands[] = {
    {"status", "", "show classes, mode, buffers, the counters of each CPU, losses (the default)", .list = 0},
    {"mask", "[MASK]",
     "set the event classes to trace: all, basic (without " TRACE_DETAIL_NAMES "), none, sched,ipc, or "
     "+lock,-frame, which changes the current mask, or a number. Without MASK: list all classes",
     .parse = {parse_mask}, .is_setting = true, .is_early = true, .operation = TRACE_OP_SET_MASK,
     .list = trace_list_classes},
    {"start", "", "resume tracing with the mask from before the last stop, or with all classes",
     .operation = TRACE_OP_START},
    {"stop", "", "stop tracing (mask none); a running pull copies what is left and ends",
     .operation = TRACE_OP_SET_MASK},
    {"switch", "[EVENTS on|off]",
     "switch single events, also those of applications: sched.wakeup, ipc.call,ipc.return, or sched for the "
     "whole class; * stands for any letters: sched.*queue. Events are logged only while their class is "
     "traced. Without arguments: list the events that are switched off",
     .parse = {0, parse_on}, .is_setting = true, .is_early = true, .run = switch_events,
     .list = trace_list_switches},
    {"sample", "[EVENTS N]",
     "log only one in N of the events with these names on each CPU; 1: all. `tarn stats` estimates how many "
     "there were. Without arguments: list the events that can be sampled",
     .parse = {0, parse_every}, .is_setting = true, .operation = TRACE_OP_SAMPLE_EVENTS, .run = limit_events,
     .list = trace_list_sampled},
    {"threshold", "[EVENTS DURATION]",
     "log only events with these names that lasted at least DURATION (500ns, 10us, 2ms, 1s); 0: all. Without "
     "arguments: list the events that have a threshold",
     .parse = {0, parse_threshold}, .is_setting = true, .operation = TRACE_OP_SET_THRESHOLD,
     .run = limit_events, .list = trace_list_thresholds},
    {"mode", "[MODE]", "flight (overwrite the oldest), stream (wait for a reader), once (stop when full)",
     .parse = {parse_mode}, .is_setting = true, .is_early = true, .operation = TRACE_OP_SET_MODE,
     .list = trace_list_mode},
    {"low-water", "[PERCENT]",
     "set the low-water mark: in mode stream, wake the trace server when at most so much of a CPU's ring is "
     "free; 0: nothing, 100: at every packet. It may change during a pull",
     .parse = {parse_percent}, .is_setting = true, .is_early = true, .operation = TRACE_OP_SET_LOW_WATER,
     .list = trace_list_low_water},
    {"buffers", "[COUNT [SIZE]]",
     "set the number of each CPU's buffers, and their size (16k to 4m), powers of two; COUNT boot: both as "
     "after the boot. Nothing in the buffers is lost, also during a pull; a flight recorder that gets "
     "smaller keeps the newest. Refused if what no reader has taken would not fit",
     .refusal = -E_BUSY,
     .reason = "the smaller buffers do not hold what no reader has taken: pull it first, or `clear` the "
               "trace; or other sizes are being set",
     .parse = {parse_count, parse_size}, .is_setting = true, .run = set_buffers, .list = trace_list_buffers},
    {"clear", "",
     "discard all logged events, and the event classes of programs that have ended; refused during a pull",
     .operation = TRACE_OP_CLEAR, .refusal = -E_BUSY,
     .reason = "a pull is running, or sizes of buffers are being set; try again"},
    {"flush", "", "close the open buffers, for readers of closed ones", .operation = TRACE_OP_FLUSH,
     .a = ~0ull},
    {"statedump", "", "log what exists: processes, threads, executables, lock classes, interrupts",
     .operation = TRACE_OP_STATEDUMP},
    {"drop-previous", "", "discard the trace of the previous boot and free its memory",
     .operation = TRACE_OP_DROP_PREVIOUS, .refusal = -E_NOT_FOUND,
     .reason = "there is no trace of a previous boot"},
    {"profile", "PERIOD",
     "sample every busy CPU each PERIOD microseconds on average (20 to 10000000); 0: stop. `tarn profile` "
     "shows the samples",
     .parse = {parse_number}, .is_setting = true, .run = set_profile},
    {"routines", "on|all|off",
     "count how often and how long each thread is in each routine of the kernel, and of programs that "
     "declare theirs; all: also in POSIX calls, requests to servers and allocation. Begins anew. `ktau` and "
     "`tarn routines` show the result",
     .parse = {parse_level}, .is_setting = true, .operation = TRACE_OP_SET_ROUTINES},
    {"counters", "[NAMES]",
     "log what up to 4 hardware counters count, for each run of a thread and each system call, as events of "
     "class counter; NAMES is a list such as instructions,cycles, or none. Without NAMES: list the counters. "
     "`tarn counters` shows the results",
     .parse = {parse_counters}, .is_setting = true, .run = bind_counters, .list = trace_list_counters},
    {"watch", "[CLASS [N]]",
     "sample one of N acquisitions (default N: 1) of the locks of a class, with its hold time, and count all "
     "waits: in "
     "the tables, and in the trace if class lock is on; N = 0 samples none. CLASS is a name, in which spaces "
     "may be "
     "written as underscores, or all or none. `tarn locks` shows the results. Without CLASS: list the "
     "classes",
     .parse = {0, parse_interval}, .is_setting = true, .run = sample_locks, .list = trace_list_locks},
};
const uint32_t trace_command_count = sizeof(trace_commands) / sizeof(*trace_commands);

const struct trace_command *trace_command_find(const char *name)
{
    for (uint32_t i = 0; i < trace_command_count; i++)
        if (trace_is_same(name, trace_commands[i].name))
            return &trace_commands[i];
    return 0;
}

/* All may be missing if the text begins with a bracket; behind another bracket each may. */
static bool takes(const char *arguments, uint32_t count)
{
    const bool has_list = *arguments == '[';
    uint32_t most = *arguments != 0, least = most;
    bool is_optional = false;
    for (arguments += has_list; *arguments; arguments++) {
        is_optional |= *arguments == '[';
        most += *arguments == ' ';
        least += *arguments == ' ' && arguments[1] != '[' && !is_optional;
    }
    return (count >= least && count <= most) || (has_list && count == 0);
}

bool trace_command_check(uint32_t count, char *const *words, char *error)
{
    const struct trace_command *command = trace_command_find(words[0]);
    const bool is_good = command && takes(command->arguments, count - 1);
    if (!command)
        JOIN_ERROR(error, "no command '", words[0], "'");
    else if (!is_good && !*command->arguments)
        JOIN_ERROR(error, words[0], " takes no arguments");
    else if (!is_good)
        JOIN_ERROR(error, "usage: ", words[0], " ", command->arguments);
    return is_good;
}

int64_t trace_command_run(struct trace_settings *settings, uint32_t count, char *const *words)
{
    struct system_counter counter;
    if (!trace_command_check(count, words, settings->error))
        return -E_BAD_ARGUMENT;
    const struct trace_command *command = trace_command_find(words[0]);
    uint64_t values[2] = {command->a, 0};
    settings->error[0] = 0;
    settings->command = command;
    settings->words = words + 1;
    settings->count = count - 1;
    if (command->list == trace_list_counters && !trace_read_counter(settings, 0, &counter))
        return refuse_without_counters(settings);
    if (count == 1 && command->list) {
        command->list(settings);
        return 0;
    }
    for (uint32_t i = 0; i < settings->count; i++) {
        const int64_t status = command->parse[i] ? command->parse[i](settings, i, &values[i]) : 0;
        if (status)
            return status;
    }
    return command->run ? command->run(settings, values)
                        : control(settings, command->operation, values[0], values[1]);
}
