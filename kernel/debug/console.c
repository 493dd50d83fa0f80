/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * console.c - the raw console, polled: pages of output, lines of input. For a VT100-like terminal. A
 * command that prints more than LINES_MAX lines ends.
 */
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/debug/debug.h>
#include <kernel/kernel.h>
#include <tarn/keys.h>

#define TEXT_MAX    256
#define LINES_MAX   5000u
#define PAGE_LINES  23u
#define LINE_MAX    160u
#define HISTORY_MAX 16u

/* ---- Output ---- */

static uint32_t page = PAGE_LINES, on_page, lines;

static void put(const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            arch_console_put('\r');
        arch_console_put(*text);
    }
}

int debug_read_key(void)
{
    int key;
    while ((key = arch_console_get()) < 0) {
        debug_press_on();
        arch_relax();
    }
    return key;
}

/* Blank: another page; return: another line; q: end the command. */
static void ask_for_more(void)
{
    int key;
    put("--more--");
    do
        key = debug_read_key();
    while (key != ' ' && key != KEY_RETURN && key != KEY_NEWLINE && key != 'q' && key != KEY_INTERRUPT);
    put("\r        \r");
    if (key == 'q' || key == KEY_INTERRUPT)
        debug_end_command();
    on_page = key == ' ' ? 0 : page - 1;
}

static void count_lines(const char *text)
{
    for (; *text; text++) {
        if (*text != '\n')
            continue;
        if (++lines == LINES_MAX) {
            put("(no more than that: the rest is not shown)\n");
            debug_end_command();
        }
        if (page && ++on_page >= page)
            ask_for_more();
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

void debug_begin_output(void)
{
    on_page = lines = 0;
}

void debug_set_page(uint32_t count)
{
    page = count;
    on_page = 0;
}

/* ---- A line of input ---- */

static struct {
    const char *prompt;
    char text[LINE_MAX];
    uint32_t length, at; /* at: the cursor */
} line;

static char history[HISTORY_MAX][LINE_MAX];
static uint32_t history_count, history_at; /* total number of lines; the one shown */

static void redraw(void)
{
    put("\r");
    put(line.prompt);
    line.text[line.length] = 0;
    put(line.text);
    put("\033[K");
    for (uint32_t i = line.at; i < line.length; i++)
        put("\b");
}

static void insert(char c)
{
    if (line.length == LINE_MAX - 1)
        return;
    memmove(line.text + line.at + 1, line.text + line.at, line.length - line.at);
    line.text[line.at++] = c;
    line.length++;
    if (line.at == line.length)
        arch_console_put(c);
    else
        redraw();
}

/* Removes [from, to). */
static void cut(uint32_t from, uint32_t to)
{
    memmove(line.text + from, line.text + to, line.length - to);
    line.length -= to - from;
    line.at = from;
    redraw();
}

static uint32_t word_start(void)
{
    uint32_t at = line.at;
    while (at && line.text[at - 1] == ' ')
        at--;
    while (at && line.text[at - 1] != ' ')
        at--;
    return at;
}

static void show_history(uint32_t index)
{
    uint32_t oldest = history_count > HISTORY_MAX ? history_count - HISTORY_MAX : 0;
    if (index < oldest || index > history_count)
        return;
    history_at = index;
    const char *text = index == history_count ? "" : history[index % HISTORY_MAX];
    line.at = line.length = (uint32_t)strlen(text);
    memcpy(line.text, text, line.length);
    redraw();
}

static void remember(void)
{
    if (!line.length)
        return;
    memcpy(history[history_count++ % HISTORY_MAX], line.text, line.length + 1);
}

/* ---- Completion ---- */

/* The length of the common prefix of all completions; also the first one and their number. */
static uint32_t common_length(const char *start, uint32_t length, const char **first, uint32_t *count)
{
    uint32_t common = 0;
    const char *other;
    for (*count = 0; (other = debug_complete(line.text, start, length, *count)); ++*count) {
        if (*count == 0) {
            *first = other;
            common = (uint32_t)strlen(other);
        }
        uint32_t same = 0;
        while (same < common && other[same] == (*first)[same])
            same++;
        common = same;
    }
    return common;
}

#define CHOICES_SHOWN 60u

static void list_choices(const char *start, uint32_t length, uint32_t count)
{
    put("\n");
    for (uint32_t i = 0; i < count && i < CHOICES_SHOWN; i++) {
        put(debug_complete(line.text, start, length, i));
        put(i + 1 < count ? " " : "");
    }
    put(count > CHOICES_SHOWN ? "...\n" : "\n");
    redraw();
}

/* Lists of names, possibly with signs, are completed name by name. */
static bool is_separator(char c)
{
    return c == ' ' || c == '=' || c == ',' || c == '+' || c == '-';
}

static void complete(void)
{
    if (line.at != line.length)
        return;
    line.text[line.length] = 0;
    uint32_t from = line.length, count;
    while (from && !is_separator(line.text[from - 1]))
        from--;
    const char *start = line.text + from, *first = NULL;
    uint32_t length = line.length - from, common = common_length(start, length, &first, &count);
    if (count == 0)
        return;
    if (count > 1 && common == length) {
        list_choices(start, length, count);
        return;
    }
    for (uint32_t i = length; i < common; i++)
        insert(first[i]);
    if (count == 1 && (!common || first[common - 1] != '='))
        insert(' ');
}

/* ---- Keys ---- */

static void move_to(uint32_t at)
{
    line.at = at;
    redraw();
}

static void edit(int key)
{
    switch (key) {
    case KEY_HOME:
        move_to(0);
        break;
    case KEY_END:
        move_to(line.length);
        break;
    case KEY_LEFT:
        move_to(line.at ? line.at - 1 : 0);
        break;
    case KEY_RIGHT:
        move_to(line.at < line.length ? line.at + 1 : line.at);
        break;
    case KEY_BACKSPACE:
        if (line.at)
            cut(line.at - 1, line.at);
        break;
    case KEY_DELETE:
    case KEY_DELETE_OR_END:
        if (line.at < line.length)
            cut(line.at, line.at + 1);
        break;
    case KEY_CUT:
        cut(0, line.at);
        break;
    case KEY_CUT_END:
        cut(line.at, line.length);
        break;
    case KEY_WORD_ERASE:
        cut(word_start(), line.at);
        break;
    case KEY_UP:
        show_history(history_at - 1);
        break;
    case KEY_DOWN:
        show_history(history_at + 1);
        break;
    case KEY_TAB:
        complete();
        break;
    default:
        if (key >= ' ' && key < 127)
            insert((char)key);
    }
}

static int read_edit_key(void)
{
    static struct key_decoder decoder;
    int key;
    while ((key = key_decode(&decoder, debug_read_key())) == KEY_PENDING)
        ;
    return key;
}

char *debug_read_line(const char *prompt)
{
    int key;
    line.prompt = prompt;
    line.length = line.at = 0;
    history_at = history_count;
    put(prompt);
    while ((key = read_edit_key()) != KEY_RETURN && key != KEY_NEWLINE) {
        if (key == KEY_INTERRUPT) {
            line.length = 0;
            put("^C");
            break;
        }
        edit(key);
    }
    line.text[line.length] = 0;
    put("\n");
    remember();
    return line.text;
}
