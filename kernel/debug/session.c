/*
 * session.c - the raw console, polled, for a VT100-like terminal, and the command loop: says why the session
 * began, then runs commands until `continue`.
 *
 * A command may end early, by a fault, a wrong argument or more than LINES_MAX lines: debug_end_command()
 * returns to the prompt.
 */
#include <arch/debug.h>
#include <arch/machine.h>
#include <base/keys.h>
#include <base/line_edit.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/debug/debugger.h>
#include <kernel/kernel.h>
#include <trace/print/words.h>

#define TEXT_MAX  256
#define LINES_MAX 5000u
#define LINE_MAX  160u

static void *prompt_state[5]; /* for __builtin_setjmp */
static bool is_over;

void debug_end_command(void)
{
    __builtin_longjmp(prompt_state, 1);
}

/* ---- Output ---- */

static uint32_t lines;

static void put(const char *text)
{
    panic_console_put(text, strlen(text));
}

static void count_lines(const char *text)
{
    for (; *text; text++) {
        if (*text != '\n' || ++lines < LINES_MAX)
            continue;
        put("(no more than that: the rest is not shown)\n");
        debug_end_command();
    }
}

void debug_print(const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = format_text_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length >= TEXT_MAX)
        memcpy(text + TEXT_MAX - 5, "...\n", 5);
    put(text);
    count_lines(text);
}

/* ---- A line of input ---- */

static const char *line_prompt;
static char line_text[LINE_MAX];
static struct line_edit line = {line_text, LINE_MAX, 0, 0};

static void redraw(void)
{
    put("\r");
    put(line_prompt);
    line.text[line.size] = 0;
    put(line.text);
    put("\033[K");
    for (size_t i = line.cursor; i < line.size; i++)
        put("\b");
}

static void insert(char c)
{
    size_t before = line.size;
    line_insert(&line, &c, 1);
    if (line.cursor != line.size)
        redraw();
    else if (line.size != before)
        arch_console_put(c);
}

/* ---- Keys ---- */

static int read_key(void)
{
    static struct key_decoder decoder;
    int byte, key = KEY_PENDING;
    while (key == KEY_PENDING) {
        while ((byte = arch_console_get()) < 0) {
            debug_force_stops();
            arch_relax();
        }
        key = key_decode(&decoder, byte);
    }
    return key;
}

static void edit(int key)
{
    if (line_key(&line, key))
        redraw();
    else if (key >= ' ' && key < 127)
        insert((char)key);
}

static char *read_line(const char *prompt)
{
    int key;
    lines = 0; /* of the next command */
    line_prompt = prompt;
    line.size = line.cursor = 0;
    put(prompt);
    while ((key = read_key()) != KEY_RETURN && key != KEY_NEWLINE) {
        if (key == KEY_INTERRUPT) {
            line.size = 0;
            put("^C");
            break;
        }
        edit(key);
    }
    line.text[line.size] = 0;
    put("\n");
    return line.text;
}

/* ---- Arguments ---- */

const char *debug_value(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strlen(word) > length && memcmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1
                                                                                           : NULL;
}

void debug_refuse(const struct debug_words *words, uint32_t index)
{
    debug_print("%s: no such argument; see help %s\n", words->word[index], words->word[0]);
    debug_end_command();
}

uint64_t debug_number(const char *text)
{
    uint64_t number;
    if (!trace_parse_number(text, strlen(text), &number)) {
        debug_print("%s: not a number\n", text);
        debug_end_command();
    }
    return number;
}

/* Users copy addresses from output, where they are 16 digits and have no 0x. */
static bool parse_address(const char *text, uint64_t *address)
{
    struct debug_symbol symbol;
    char prefixed[20];
    if (debug_symbol_named(text, &symbol)) {
        *address = symbol.address;
        return true;
    }
    format_text(prefixed, sizeof prefixed, "0x%s", text);
    return (strlen(text) == 16 && trace_parse_number(prefixed, strlen(prefixed), address)) ||
           trace_parse_number(text, strlen(text), address) ||
           (strlen(text) < 16 && trace_parse_number(prefixed, strlen(prefixed), address));
}

uint64_t debug_address(const char *text)
{
    char base[80];
    uint64_t address, offset = 0;
    size_t length = 0;
    while (text[length] && text[length] != '+' && length < sizeof base - 1)
        length++;
    memcpy(base, text, length);
    base[length] = 0;
    if (text[length] == '+')
        offset = debug_number(text + length + 1);
    if (!parse_address(base, &address)) {
        debug_print("%s: neither a symbol nor an address\n", base);
        debug_end_command();
    }
    return address + offset;
}

struct cpu *debug_cpu(const char *text)
{
    uint64_t number = debug_number(text);
    if (number < cpu_count)
        return &cpus[number];
    debug_print("no cpu %s; there are %u\n", text, cpu_count);
    debug_end_command();
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

static void help(const struct debug_words *words);

static const struct command {
    const char *name, *arguments, *help;
    debug_run *run;
    uint32_t max_arguments;
} commands[] = {
    {"help", "", "this list; a command's first letters are enough", help, 0},
    {"trace", "[N] [cpu= class= event= tid=]",
     "the last N events; of cpu=N, class=NAME,NAME, event=NAME; that thread tid=N logged, or that name it. "
     "trace mask [MASK] and trace switch [EVENTS on|off] as in the shell",
     debug_trace, DEBUG_WORDS_MAX - 1},
    {"cpu", "[N]", "CPUs, their threads and addresses; with N, one CPU and its registers", debug_cpus, 1},
    {"thread", "TID", "one thread: registers, what it waits for, call chain", debug_thread, 1},
    {"threads", "[PID]", "threads and what they wait for; with PID, those of one process", debug_threads, 1},
    {"spaces", "", "address spaces, with their programs and memory", debug_spaces, 0},
    {"waits", "", "chains of waiting threads; deadlocks as cycles", debug_waits, 0},
    {"bt", "[cpu N | tid N]", "call chain of this CPU, of another one, or of a thread", debug_backtrace, 2},
    {"mem", "[pid=N] ADDRESS [BYTES]",
     "memory of the kernel or a process; ADDRESS: number, symbol, symbol+number", debug_memory, 3},
    {"sym", "ADDRESS", "the address, and the kernel's last symbol at or before it", debug_symbols, 1},
    {"continue", "", "resumes all CPUs", end_session, 0},
    {"reboot", "", "restarts the machine", reboot, 0},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void help(const struct debug_words *words)
{
    for (uint32_t i = 0; i < COMMANDS; i++)
        debug_print("%-9s %-30s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
}

static bool begins_with(const char *text, const char *start)
{
    return strlen(text) >= strlen(start) && !memcmp(text, start, strlen(start));
}

/* The first command whose name begins so; NULL: none. */
static const struct command *find_command(const char *name)
{
    for (uint32_t i = 0; i < COMMANDS; i++)
        if (begins_with(commands[i].name, name))
            return &commands[i];
    return NULL;
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
    const struct command *command = find_command(words.word[0]);
    if (!command)
        debug_print("%s: no such command; help lists them\n", words.word[0]);
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
    if (__builtin_setjmp(prompt_state) == 0)
        greet(reason, continues);
    while (!is_over) {
        char *line = read_line("debug> ");
        do_line(line);
    }
}
