/*
 * console.c - the raw console, polled: output, lines of input. For a VT100-like terminal. A command that
 * prints more than LINES_MAX lines ends.
 */
#include <arch/machine.h>
#include <base/keys.h>
#include <base/line_edit.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>

#define TEXT_MAX  256
#define LINES_MAX 5000u
#define LINE_MAX  160u

/* ---- Output ---- */

static uint32_t lines;

static void put(const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            arch_console_put('\r');
        arch_console_put(*text);
    }
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

char *debug_read_line(const char *prompt)
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
