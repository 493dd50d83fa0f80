/*
 * edit.c - reads a line from the terminal, with editing, history and completion.
 *
 *   - Left, right, home, end (or Ctrl-B, F, A, E), backspace, delete, Ctrl-K, U, W: editing.
 *   - Up and down (or Ctrl-P, N): history.
 *   - Tab: completes file names; in the first word, program names.
 *   - Ctrl-C drops the line, Ctrl-D on an empty line ends the input, Ctrl-L clears the screen.
 *
 * If standard input is no terminal, lines are read unedited. Text is UTF-8: positions are in bytes and lie
 * between characters (<base/utf8.h>); the screen counts columns.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/keys.h>
#include <base/line_edit.h>
#include <base/utf8.h>
#include <user/sh/sh.h>

#define LINE_MAX_BYTES 1024
#define HISTORY_MAX    100

static char *history[HISTORY_MAX];
static int history_count;

struct line {
    const char *prompt;
    struct line_edit edit;
    char typed[4]; /* the first bytes of an incomplete character */
    size_t typed_size;
    int history_at;
    /* What the screen shows. */
    struct {
        bool nothing;
        char text[LINE_MAX_BYTES];
        size_t size, cursor;
    } shown;
};

/* ---- keys ------------------------------------------------------------------------------------------ */

static int read_byte(void)
{
    unsigned char byte;
    return read(0, &byte, 1) == 1 ? byte : -1;
}

static int read_key(void)
{
    struct key_decoder decoder = {0};
    int key;
    while ((key = key_decode(&decoder, read_byte())) == KEY_PENDING)
        ;
    return key;
}

/* ---- the screen ------------------------------------------------------------------------------------ */

/* Writes to `out` the bytes that move the cursor between two columns of the line. Returns their number. */
static int put_move(char *out, size_t capacity, size_t from, size_t to)
{
    return from > to   ? snprintf(out, capacity, "\033[%zuD", from - to)
           : from < to ? snprintf(out, capacity, "\033[%zuC", to - from)
                       : 0;
}

/* Returns the size of the longest common prefix of line and screen, in whole characters. */
static size_t common_size(const struct line *line)
{
    size_t size = 0, next;
    for (; size < line->edit.size && size < line->shown.size; size = next) {
        next = utf8_next(line->edit.text, line->edit.size, size);
        if (next != utf8_next(line->shown.text, line->shown.size, size) ||
            memcmp(line->edit.text + size, line->shown.text + size, next - size))
            break;
    }
    return size;
}

/* Writes only what changed, so that a log of the session is readable, and in one write, so that the output of
 * other processes is not interleaved. */
static void redraw(struct line *line)
{
    char out[LINE_MAX_BYTES + 256];
    int n = 0;
    if (line->shown.nothing) {
        n = snprintf(out, sizeof out, "\r%s\033[K", line->prompt);
        line->shown.nothing = false;
        line->shown.size = line->shown.cursor = 0;
    }
    size_t common = common_size(line), end = utf8_columns(line->edit.text, line->edit.size);
    size_t at = utf8_columns(line->shown.text, line->shown.cursor);
    if (common < line->edit.size || common < line->shown.size) {
        n += put_move(out + n, sizeof out - (size_t)n, at, utf8_columns(line->edit.text, common));
        n += snprintf(out + n, sizeof out - (size_t)n, "%.*s%s", (int)(line->edit.size - common),
                      line->edit.text + common,
                      end < utf8_columns(line->shown.text, line->shown.size) ? "\033[K" : "");
        at = end;
    }
    n += put_move(out + n, sizeof out - (size_t)n, at, utf8_columns(line->edit.text, line->edit.cursor));
    (void)!write(1, out, (size_t)n);
    memcpy(line->shown.text, line->edit.text, line->edit.size);
    line->shown.size = line->edit.size;
    line->shown.cursor = line->edit.cursor;
}

static void put_text(const char *text)
{
    (void)!write(1, text, strlen(text));
}

/* ---- changes --------------------------------------------------------------------------------------- */

/* Inserts a non-ASCII character when its last byte arrives; drops invalid UTF-8. */
static void insert_byte(struct line *line, char byte)
{
    size_t length;
    if (((unsigned char)byte & 0xc0) != 0x80)
        line->typed_size = 0;
    line->typed[line->typed_size++] = byte;
    size_t wanted = utf8_length((unsigned char)line->typed[0]);
    if (line->typed_size < wanted)
        return;
    utf8_decode(line->typed, line->typed_size, &length);
    if (wanted > 1 && length == wanted)
        line_insert(&line->edit, line->typed, wanted);
    line->typed_size = 0;
}

static void show_history(struct line *line, int step)
{
    int at = line->history_at + step;
    if (at < 0 || at > history_count)
        return;
    line->history_at = at;
    line_set(&line->edit, at < history_count ? history[at] : "");
}

static void remember(const char *text)
{
    if (!*text || (history_count && !strcmp(history[history_count - 1], text)))
        return;
    if (history_count == HISTORY_MAX) {
        free(history[0]);
        memmove(history, history + 1, (HISTORY_MAX - 1) * sizeof *history);
        history_count--;
    }
    char *copy = strdup(text);
    if (copy)
        history[history_count++] = copy;
}

/* ---- completion ------------------------------------------------------------------------------------ */

struct completion {
    char common[256];
    char listing[LINE_MAX_BYTES];
    int count;
};

static void consider(struct completion *completion, const char *name)
{
    size_t length = 0;
    if (completion->count++ == 0) {
        snprintf(completion->common, sizeof completion->common, "%s", name);
    } else {
        size_t size = strlen(completion->common), next;
        while (length < size && (next = utf8_next(completion->common, size, length)) &&
               !strncmp(completion->common + length, name + length, next - length))
            length = next;
        completion->common[length] = 0;
    }
    size_t used = strlen(completion->listing);
    snprintf(completion->listing + used, sizeof completion->listing - used, "%s  ", name);
}

static void complete(struct line *line)
{
    size_t start = line->edit.cursor;
    while (start && line->edit.text[start - 1] != ' ')
        start--;
    char word[LINE_MAX_BYTES];
    snprintf(word, sizeof word, "%.*s", (int)(line->edit.cursor - start), line->edit.text + start);
    char *slash = strrchr(word, '/');
    const char *prefix = slash ? slash + 1 : word;
    const char *path = slash ? (slash == word ? "/" : word) : start == 0 ? "/bin" : ".";
    if (slash && slash != word)
        *slash = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return;
    struct completion completion = {0};
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (entry->d_name[0] != '.' && !strncmp(entry->d_name, prefix, strlen(prefix)))
            consider(&completion, entry->d_name);
    }
    closedir(directory);
    if (completion.count == 0)
        return;
    const char *more = completion.common + strlen(prefix);
    line_insert(&line->edit, more, strlen(more));
    if (completion.count == 1) {
        line_insert(&line->edit, " ", 1);
    } else if (!*more) {
        put_text("\r\n");
        put_text(completion.listing);
        put_text("\r\n");
        line->shown.nothing = true;
    }
}

/* ---- the loop -------------------------------------------------------------------------------------- */

enum outcome { GOES_ON, IS_DONE, IS_DROPPED, IS_OVER };

static enum outcome handle_key(struct line *line, int key)
{
    switch (key) {
    case -1:
        return IS_OVER;
    case KEY_RETURN:
    case KEY_NEWLINE:
        return IS_DONE;
    case KEY_INTERRUPT:
        return IS_DROPPED;
    case KEY_DELETE_OR_END:
        if (line->edit.size == 0)
            return IS_OVER;
        line_key(&line->edit, key);
        break;
    case KEY_UP:
        show_history(line, -1);
        break;
    case KEY_DOWN:
        show_history(line, 1);
        break;
    case KEY_CLEAR:
        put_text("\033[H\033[2J");
        line->shown.nothing = true;
        break;
    case KEY_TAB:
        complete(line);
        break;
    default:
        if (line_key(&line->edit, key))
            break;
        if (key >= ' ' && key < 127)
            line_insert(&line->edit, &(char){(char)key}, 1);
        else if (key >= 0x80 && key <= 0xff)
            insert_byte(line, (char)key);
    }
    return GOES_ON;
}

static char *edit_raw(const char *prompt)
{
    char text[LINE_MAX_BYTES];
    struct line line = {.prompt = prompt,
                        .edit = {text, sizeof text, 0, 0},
                        .history_at = history_count,
                        .shown.nothing = true};
    enum outcome outcome = GOES_ON;
    while (outcome == GOES_ON) {
        redraw(&line);
        outcome = handle_key(&line, read_key());
    }
    put_text(outcome == IS_DROPPED ? "^C\r\n" : "\r\n");
    if (outcome == IS_OVER)
        return NULL;
    text[outcome == IS_DROPPED ? 0 : line.edit.size] = 0;
    remember(text);
    return strdup(text);
}

static char *read_plain(void)
{
    char text[LINE_MAX_BYTES];
    size_t size = 0;
    int c;
    while ((c = read_byte()) >= 0 && c != '\n') {
        if (size + 1 < sizeof text)
            text[size++] = (char)c;
    }
    text[size] = 0;
    return c < 0 && size == 0 ? NULL : strdup(text);
}

char *edit_line(const char *prompt)
{
    if (!terminal_set_raw(true))
        return read_plain();
    char *line = edit_raw(prompt);
    terminal_set_raw(false);
    return line;
}
