/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.c - the command loop: says why the session began, then runs commands until `continue`.
 *
 * A command may end early, by a fault or a wrong argument: debug_end_command() returns to the prompt.
 */
#include <arch/debug.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <trace/format/event_table.h>

static void *prompt_state[5]; /* for __builtin_setjmp */
static bool is_over;

static void *try_state[5];
static volatile bool trying;

void debug_end_command(void)
{
    trying = false;
    __builtin_longjmp(prompt_state, 1);
}

bool debug_try(void (*function)(void *argument), void *argument)
{
    if (__builtin_setjmp(try_state))
        return false;
    trying = true;
    function(argument);
    trying = false;
    return true;
}

void debug_fail_try(void)
{
    if (!trying)
        return;
    trying = false;
    __builtin_longjmp(try_state, 1);
}

/* ---- Commands for the session itself ---- */

static void end_session(const struct debug_words *words)
{
    is_over = true;
}

static void reboot(const struct debug_words *words)
{
    debug_print("reboot\n");
    arch_reboot();
}

/* The dump is made from outside; the machine only has to stand still. */
static void hold_for_dump(const struct debug_words *words)
{
    debug_print("memory does not change now: dump it from outside (QMP: dump-guest-memory, paging=false), "
                "then press a key\n"
                "`tarn pull core:FILE` reads the trace of the dump\n");
    debug_read_key();
}

static const struct debug_command *find_command(const char *name, size_t length);

static void help(const struct debug_words *words)
{
    const struct debug_command *wanted =
        words->count > 1 ? find_command(words->word[1], strlen(words->word[1])) : NULL;
    if (words->count > 1 && !wanted) {
        debug_print("%s: no such command, or not unique; help lists them\n", words->word[1]);
        return;
    }
    for (uint32_t i = 0; i < debug_command_count; i++) {
        const struct debug_command *command = &debug_commands[i];
        if (wanted && command != wanted)
            continue;
        char text[400];
        format_text(text, sizeof text, "%s", command->help);
        for (char *end = text; words->count < 2 && *end; end++)
            if (*end == ';') /* the short list shows the text before it */
                *end = 0;
        debug_print("%-9s %-28s %s\n", command->name, command->arguments, text);
    }
    if (words->count < 2)
        debug_print("help COMMAND describes one. Tab completes.\n");
}

/* ---- The command table ---- */

static const char *const trace_words[] = {"cpu=", "class=", "event=", "pid=", "tid=", "back=", NULL};
static const char *const bt_words[] = {"cpu", "tid", NULL};
static const char *const mem_words[] = {"pid=", NULL};
static const char *const waits_words[] = {"all", NULL};

const struct debug_command debug_commands[] = {
    {"help", "[COMMAND]", "this list; with COMMAND, all about that command", help, NULL, 1},
    {"trace", "[N] [cpu= class= event= ...]",
     "the last N events; filters: cpu=N, class=NAME,NAME, event=NAME, pid=N and tid=N (of the thread that "
     "logged it), back=MS (the last MS milliseconds). trace mask [MASK] and trace switch [EVENTS on|off] as "
     "in "
     "the shell; other settings are shown: trace mode",
     debug_trace, trace_words, DEBUG_WORDS_MAX - 1},
    {"follow", "TID [N]",
     "the last N events that a thread logged, or that name it; takes the filters of trace", debug_follow,
     trace_words, DEBUG_WORDS_MAX - 1},
    {"stat", "", "events and losses of each CPU's ring; and events of each class", debug_stat, NULL, 0},
    {"cpu", "[N]", "CPUs, their threads and addresses; with N, one CPU and its registers", debug_cpus, NULL,
     1},
    {"threads", "[PID]", "threads and what they wait for; with PID, those of one process", debug_threads,
     NULL, 1},
    {"thread", "TID", "one thread: registers, what it waits for, call chain", debug_thread, NULL, 1},
    {"spaces", "", "address spaces; with their programs and memory", debug_spaces, NULL, 0},
    {"endpoints", "", "endpoints; with receivers and waiting threads", debug_endpoints, NULL, 0},
    {"locks", "", "held kernel locks; with holder and waiters", debug_locks, NULL, 0},
    {"waits", "[all]",
     "chains of waiting threads; deadlocks as cycles; with `all`, also threads that wait for no particular "
     "one",
     debug_waits, waits_words, 1},
    {"bt", "[cpu N | tid N]", "call chain of this CPU; or of another one, or of a thread", debug_backtrace,
     bt_words, 2},
    {"mem", "[pid=N] ADDRESS [BYTES]",
     "memory of the kernel; or of a process. ADDRESS: number, symbol, symbol+number", debug_memory, mem_words,
     3},
    {"sym", "ADDRESS | NAME [PID]", "the symbol at an address; the address of a symbol", debug_symbols, NULL,
     2},
    {"continue", "", "resumes all CPUs", end_session, NULL, 0},
    {"dump", "", "waits while memory is dumped from outside; until a key is pressed", hold_for_dump, NULL, 0},
    {"reboot", "", "restarts the machine", reboot, NULL, 0},
};
const uint32_t debug_command_count = sizeof debug_commands / sizeof debug_commands[0];

/* ---- Completion ---- */

static bool begins_with(const char *text, const char *start, uint32_t length)
{
    return strlen(text) >= length && memcmp(text, start, length) == 0;
}

static const char *command_nth(uint32_t index)
{
    return index < debug_command_count ? debug_commands[index].name : NULL;
}

static const char *symbol_nth(uint32_t index)
{
    struct debug_symbol symbol;
    return debug_symbol_nth(index, &symbol) ? symbol.name : NULL;
}

static const char *complete_name(const char *(*nth)(uint32_t index), const char *start, uint32_t length,
                                 uint32_t index)
{
    const char *name;
    for (uint32_t i = 0; (name = nth(i)); i++)
        if (begins_with(name, start, length) && index-- == 0)
            return name;
    return NULL;
}

static const char *complete_word(const char *const *words, const char *start, uint32_t length, uint32_t index)
{
    for (; words && *words; words++)
        if (begins_with(*words, start, length) && index-- == 0)
            return *words;
    return NULL;
}

static const struct debug_command *find_command(const char *name, size_t length)
{
    const struct debug_command *found = NULL;
    for (uint32_t i = 0; i < debug_command_count; i++) {
        const struct debug_command *command = &debug_commands[i];
        if (!begins_with(command->name, name, (uint32_t)length))
            continue;
        if (strlen(command->name) == length)
            return command;
        found = found ? &debug_commands[debug_command_count] : command; /* the table's end: not unique */
    }
    return found && found < &debug_commands[debug_command_count] ? found : NULL;
}

static bool is_mask(const char *line)
{
    return begins_with(line, "trace mask ", 11);
}

/* Completes what follows NAME=, or a list of classes. */
static const char *complete_value(const struct debug_command *command, const char *line, const char *start,
                                  uint32_t length, uint32_t index)
{
    const char *word = start;
    while (word > line && word[-1] != ' ')
        word--;
    if (is_mask(line) || (command->completions == trace_words && debug_value(word, "class")))
        return complete_name(debug_class_nth, start, length, index);
    if (command->completions == trace_words && debug_value(word, "event"))
        return complete_name(debug_event_nth, start, length, index);
    return NULL;
}

const char *debug_complete(const char *line, const char *start, uint32_t length, uint32_t index)
{
    size_t name_length = 0;
    if (start == line)
        return complete_name(command_nth, start, length, index);
    while (line[name_length] && line[name_length] != ' ')
        name_length++;
    const struct debug_command *command = find_command(line, name_length);
    if (!command)
        return NULL;
    if (command->run == help)
        return complete_name(command_nth, start, length, index);
    if (start[-1] != ' ' || is_mask(line))
        return complete_value(command, line, start, length, index);
    if (command->run == debug_memory || command->run == debug_symbols) {
        const char *word = complete_word(command->completions, start, length, index);
        return word || !length ? word : complete_name(symbol_nth, start, length, index);
    }
    return complete_word(command->completions, start, length, index);
}

/* ---- The command loop ---- */

static void split(char *line, struct debug_words *words)
{
    words->count = 0;
    while (words->count < DEBUG_WORDS_MAX) {
        while (*line == ' ')
            *line++ = 0;
        if (!*line)
            return;
        words->word[words->count++] = line;
        while (*line && *line != ' ')
            line++;
    }
    *line = 0;
}

/* Ignores lines that begin with #: scripts send them and wait for the echo. */
static void do_line(char *line)
{
    static struct debug_words words;
    split(line, &words);
    if (!words.count || words.word[0][0] == '#')
        return;
    const struct debug_command *command = find_command(words.word[0], strlen(words.word[0]));
    if (!command)
        debug_print("%s: no such command, or not unique; help lists them\n", words.word[0]);
    else if (words.count > command->max_arguments + 1)
        debug_refuse(&words, command->max_arguments + 1);
    else
        command->run(&words);
}

static const char *const stop_texts[] = {
    [STOP_RUNNING] =
        "does not answer, and is not stopped: its host does not run it, or nothing can interrupt it",
    [STOP_FORCED] = "took no interrupt, and was stopped by force",
    [STOP_ENDED] = "was stopped for good before",
};

static void greet(const char *reason, const char *continues)
{
    const struct kernel_regs *regs = debugger_stopped_at(this_cpu()->index);
    debug_print("\n*** debugger: %s, on cpu %u at %s\n", reason, this_cpu()->index,
                debug_name_of(NULL, arch_trap_ip(regs)));
    for (uint32_t i = 0; i < cpu_count; i++) {
        enum stop_state state = debug_stop_state(i);
        if (state == STOP_SESSION || state == STOP_ASKED)
            continue;
        regs = debugger_stopped_at(i);
        debug_print("cpu %u %s", i, stop_texts[state]);
        debug_print(regs ? ": %s\n" : "\n", regs ? debug_name_of(NULL, arch_trap_ip(regs)) : "");
    }
    debug_print("help lists the commands, continue %s\n", continues);
}

void debug_session(const char *reason, const char *continues)
{
    is_over = false;
    debug_begin_output();
    if (__builtin_setjmp(prompt_state) == 0)
        greet(reason, continues);
    while (!is_over) {
        debug_begin_output();
        char *line = debug_read_line("debug> ");
        do_line(line);
    }
}
