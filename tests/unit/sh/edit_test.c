/*
 * edit_test.c - tests edit.c on the host: keys in, the line and the screen out.
 *
 * The terminal is a row of columns that interprets what redraw writes: text, \r, ESC [K, ESC [nC, ESC [nD.
 */
#include <base/utf8.h>
#include <fcntl.h>
#include <tests/tap.h>
#include <unistd.h>
#include <user/sh/sh.h>

bool terminal_set_raw(bool raw)
{
    return true;
}

#define COLUMNS 200

static struct {
    /* the character that begins in this column; "" in the second column of a wide one */
    char cell[COLUMNS][16];
    size_t at, end;
} terminal;

static const char *escape(const char *text)
{
    char *end;
    size_t count = strtoul(text + 2, &end, 10);
    if (*end == 'C')
        terminal.at += count;
    else if (*end == 'D')
        terminal.at -= count < terminal.at ? count : terminal.at;
    else if (*end == 'K')
        for (size_t i = terminal.at; i < COLUMNS; i++)
            terminal.cell[i][0] = 0;
    return end + 1;
}

/* Displays the output up to the newline. */
static void show(const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end && *text != '\n') {
        if (*text == '\033') {
            text = escape(text);
            continue;
        }
        if (*text == '\r') {
            terminal.at = 0;
            text++;
            continue;
        }
        size_t length = utf8_next(text, (size_t)(end - text), 0), width = utf8_columns(text, length);
        memcpy(terminal.cell[terminal.at], text, length);
        terminal.cell[terminal.at][length] = 0;
        if (width == 2)
            terminal.cell[terminal.at + 1][0] = 0;
        terminal.at += width;
        text += length;
    }
}

static char line[4096], screen[4096];

/* Types the keys and return. Stores the line in `line` and the screen after the prompt in `screen`. */
static void type(const char *keys)
{
    static char printed[65536];
    int in[2], out[2], old_in = dup(0), old_out = dup(1);
    if (pipe(in) || pipe(out) || fcntl(out[1], F_SETPIPE_SZ, sizeof printed) < 0)
        abort();
    if (write(in[1], keys, strlen(keys)) < 0 || write(in[1], "\r", 1) != 1)
        abort();
    dup2(in[0], 0), dup2(out[1], 1);
    char *text = edit_line("$ ");
    dup2(old_in, 0), dup2(old_out, 1);
    strcpy(line, text);
    free(text);
    memset(&terminal, 0, sizeof terminal);
    ssize_t size = read(out[0], printed, sizeof printed);
    printed[size] = 0;
    /* including the final return */
    show(printed, (size_t)size);
    screen[0] = 0;
    for (size_t i = 2; i < COLUMNS; i++)
        strcat(screen, terminal.cell[i]);
    for (int i = 0; i < 2; i++)
        close(in[i]), close(out[i]);
    close(old_in), close(old_out);
}

#define LEFT "\033[D"
#define BACK "\x7f"
#define DEL  "\033[3~"
#define HOME "\001"

static int gives(const char *keys, const char *expected)
{
    type(keys);
    if (strcmp(line, expected) || strcmp(screen, expected))
        printf("# line `%s`, screen `%s`, expected `%s`\n", line, screen, expected);
    return !strcmp(line, expected) && !strcmp(screen, expected);
}

int main(void)
{
    check(gives("echo hello", "echo hello"));
    check(gives("helo" LEFT "l", "hello"));
    check(gives("grüße", "grüße"));
    check(gives("grüße" BACK BACK "n", "grün"));
    check(gives("aüb" LEFT LEFT "x", "axüb"));
    check(gives("aüb" LEFT LEFT DEL, "ab"));
    check(gives("漢字kana" HOME DEL "x", "x字kana"));
    check(gives("漢字" LEFT "-", "漢-字"));
    check(gives("e\xcc\x81t" LEFT BACK, "t")); /* e with its accent is one character */
    check(gives("😀 ok" HOME "> ", "> 😀 ok"));
    check(gives("a\xff\xc3z", "az")); /* invalid UTF-8 is dropped */
    check(gives("one zwölf\x17x", "one x"));
    check(gives("\033[A", "one x"));
    return finish_tests();
}
