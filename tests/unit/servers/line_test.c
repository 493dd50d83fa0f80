/* line_test.c - typed characters in, lines and echo out. */
#include <servers/console/line.h>
#include <servers/protocol/console.h>
#include <tests/tap.h>

static struct line line;
static char shown[8192];
static uint32_t shown_size;

static void show(const char *text, uint32_t size)
{
    if (size > sizeof(shown) - shown_size - 1)
        shown_size = 0;
    memcpy(shown + shown_size, text, size);
    shown_size += size;
    shown[shown_size] = 0;
}

static enum line_event type(const char *keys)
{
    enum line_event event = LINE_NOTHING;
    shown_size = 0;
    shown[0] = 0;
    while (*keys)
        event = line_input(&line, *keys++);
    return event;
}

static int reads(const char *expected)
{
    char buffer[256];
    if (!line_is_readable(&line))
        return 0;
    uint32_t size = line_read(&line, buffer, sizeof(buffer));
    return size == strlen(expected) && !memcmp(buffer, expected, size);
}

static void test_canonical(void)
{
    check(type("ab") == LINE_NOTHING && !line_is_readable(&line) && !strcmp(shown, "ab"));
    check(type("c\r") == LINE_READABLE && !strcmp(shown, "c\n") && reads("abc\n") &&
          !line_is_readable(&line));
    check(type("xy\bz\x7f\x7f\x7f\x7fq\n") == LINE_READABLE && reads("q\n"));
    check(type("one two  \x17x\n") == LINE_READABLE && reads("one x\n"));
    check(type("gone\x15kept\n") == LINE_READABLE && reads("kept\n"));
    check(type("a\xc3\xa9\x7f\n") == LINE_READABLE && reads("a\n"));
    check(type("a\xe2\x82\xac\x7f") == LINE_NOTHING && !strcmp(shown, "a\xe2\x82\xac\b \b"));
    check(type("\xe6\xbc\xa2\x7f") == LINE_NOTHING && !strcmp(shown, "\xe6\xbc\xa2\b \b\b \b")); /* wide */
    check(type("e\xcc\x81\x7f") == LINE_NOTHING && !strcmp(shown, "e\xcc\x81\b \b")); /* a combining mark */
    check(type("\n") == LINE_READABLE && reads("a\n"));
    check(type("1\n2\n") == LINE_READABLE && reads("1\n") && reads("2\n"));
    char two[2];
    type("long\n");
    check(line_read(&line, two, 2) == 2 && !memcmp(two, "lo", 2) && reads("ng\n"));
}

static void test_end_and_interrupt(void)
{
    check(type("part\x04") == LINE_READABLE && reads("part"));
    check(type("\x04") == LINE_READABLE && reads("") && !line_is_readable(&line));
    check(type("gone\x03") == LINE_INTERRUPT && !strcmp(shown, "gone^C\n") && type("\n") == LINE_READABLE);
    check(reads("\n"));
}

static void test_raw(void)
{
    type("typed");
    line_set_mode(&line, CONSOLE_RAW);
    check(reads("typed"));
    check(type("\x03\x04\r\x1b[A") == LINE_READABLE && !strcmp(shown, "") && reads("\x03\x04\r\x1b[A"));
    type("ab");
    char one;
    check(line_read(&line, &one, 1) == 1 && one == 'a' && reads("b") && !line_is_readable(&line));
    line_set_mode(&line, CONSOLE_COOKED);
}

/* More input than anybody reads: the excess is counted as lost, and the rest is intact. */
static void test_full(void)
{
    char text[LINE_BYTES * 2];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    type(text);
    check(line.lost > 0 && type("\n") == LINE_READABLE);
    char buffer[LINE_BYTES * 2];
    check(line_read(&line, buffer, sizeof(buffer)) == LINE_BYTES && buffer[LINE_BYTES - 1] == '\n');
    int wrong = 0;
    srand(3);
    for (int i = 0; i < 200000; i++) {
        char key = (char)rand();
        if (rand() % 1000 == 0)
            line_set_mode(&line, (uint32_t)rand());
        line_input(&line, key);
        if (rand() % 50 == 0 && line_is_readable(&line)) {
            uint32_t want = (uint32_t)rand() % 64;
            wrong += line_read(&line, buffer, want) > want;
        }
        uint32_t sum = 0;
        for (uint32_t j = 0; j < line.line_count; j++)
            sum += line.lines[(line.line_head + j) % LINE_LINES];
        wrong += sum != line.ready_count || line.ready_count > LINE_READY || line.edit_count > LINE_BYTES;
    }
    check(wrong == 0);
}

int main(void)
{
    line_init(&line, show);
    test_canonical();
    test_end_and_interrupt();
    test_raw();
    test_full();
    return finish_tests();
}
