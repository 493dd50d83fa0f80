/* line.c - the line discipline. Interface: line.h. */
#include "line.h"
#include <base/keys.h>
#include <base/utf8.h>
#include <servers/protocol/console.h>
#include <string.h>

void line_init(struct line *line, void (*echo)(const char *text, uint32_t size))
{
    memset(line, 0, sizeof(*line));
    line->mode = CONSOLE_COOKED;
    line->echo = echo;
}

static void echo(struct line *line, const char *text)
{
    if (line->mode & CONSOLE_ECHO)
        line->echo(text, (uint32_t)strlen(text));
}

static void make_ready(struct line *line, const char *bytes, uint32_t size)
{
    if (line->line_count == LINE_LINES || size > LINE_READY - line->ready_count) {
        line->lost += size;
        return;
    }
    for (uint32_t i = 0; i < size; i++)
        line->ready[(line->ready_head + line->ready_count + i) % LINE_READY] = bytes[i];
    line->ready_count += size;
    line->lines[(line->line_head + line->line_count++) % LINE_LINES] = (uint16_t)size;
}

static void finish_edit(struct line *line)
{
    make_ready(line, line->edit, line->edit_count);
    line->edit_count = 0;
}

static void erase_last(struct line *line)
{
    uint32_t begin = (uint32_t)utf8_previous(line->edit, line->edit_count);
    size_t columns = utf8_columns(line->edit + begin, line->edit_count - begin);
    line->edit_count = begin;
    while (columns--)
        echo(line, "\b \b");
}

static void erase_word(struct line *line)
{
    while (line->edit_count && line->edit[line->edit_count - 1] == ' ')
        erase_last(line);
    while (line->edit_count && line->edit[line->edit_count - 1] != ' ')
        erase_last(line);
}

static enum line_event input_canonical(struct line *line, char key)
{
    char text[2] = {key, 0};
    switch (key) {
    case '\r':
    case '\n':
        line->edit[line->edit_count++] = '\n';
        echo(line, "\n");
        finish_edit(line);
        return LINE_READABLE;
    case KEY_DELETE_OR_END:
        finish_edit(line); /* if nothing is typed: end of file */
        return LINE_READABLE;
    case '\b':
    case 127:
        if (line->edit_count)
            erase_last(line);
        return LINE_NOTHING;
    case KEY_WORD_ERASE:
        erase_word(line);
        return LINE_NOTHING;
    case KEY_CUT:
        while (line->edit_count)
            erase_last(line);
        return LINE_NOTHING;
    default:
        if (line->edit_count == LINE_BYTES - 1) { /* keep space for the newline */
            line->lost++;
            echo(line, "\a");
            return LINE_NOTHING;
        }
        line->edit[line->edit_count++] = key;
        echo(line, text);
        return LINE_NOTHING;
    }
}

enum line_event line_input(struct line *line, char key)
{
    if (key == KEY_INTERRUPT && (line->mode & CONSOLE_SIGNALS)) {
        line->edit_count = 0;
        echo(line, "^C\n");
        return LINE_INTERRUPT;
    }
    if (line->mode & CONSOLE_CANONICAL)
        return input_canonical(line, key);
    if (line->mode & CONSOLE_ECHO)
        line->echo(&key, 1);
    /* Consecutive bytes share one entry of `lines`, so that many fit. */
    uint32_t last = (line->line_head + line->line_count - 1) % LINE_LINES;
    if (line->line_count && line->lines[last] && line->ready_count < LINE_READY) {
        line->ready[(line->ready_head + line->ready_count++) % LINE_READY] = key;
        line->lines[last]++;
    } else {
        make_ready(line, &key, 1);
    }
    return LINE_READABLE;
}

bool line_is_readable(const struct line *line)
{
    return line->line_count != 0;
}

/* Removes the bytes that it returns. */
static uint32_t take(struct line *line, char *buffer, uint32_t size)
{
    uint16_t *length = &line->lines[line->line_head];
    uint32_t count = size < *length ? size : *length;
    for (uint32_t i = 0; i < count; i++)
        buffer[i] = line->ready[(line->ready_head + i) % LINE_READY];
    line->ready_head = (line->ready_head + count) % LINE_READY;
    line->ready_count -= count;
    *length = (uint16_t)(*length - count);
    if (*length == 0) {
        line->line_head = (line->line_head + 1) % LINE_LINES;
        line->line_count--;
    }
    return count;
}

uint32_t line_read(struct line *line, char *buffer, uint32_t size)
{
    uint32_t count = 0;
    if (size == 0)
        return 0;
    do
        count += take(line, buffer + count, size - count);
    while (!(line->mode & CONSOLE_CANONICAL) && count < size && line->line_count &&
           line->lines[line->line_head]);
    return count;
}

void line_set_mode(struct line *line, uint32_t mode)
{
    if (!(mode & CONSOLE_CANONICAL) && line->edit_count)
        finish_edit(line);
    line->mode = mode & CONSOLE_COOKED;
}
