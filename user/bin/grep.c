/*
 * grep.c - prints lines that match a pattern. Exit status 0: something matched, 1: nothing, 2: an error.
 *
 *   - Pattern: literal characters, . (any character), ^ $ (start, end), * (repetition), \ (quotes).
 *   - Options: -v: lines that do not match; -i: ignore case; -c: only count; -n: line numbers; -q: only the
 *     status.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <user/bin/util.h>

static const char *pattern_wanted;
static bool prints_names;
static unsigned long found;

static bool matches_char(const char *pattern, char c)
{
    if (*pattern == '.')
        return true;
    if (*pattern == '\\' && pattern[1])
        pattern++;
    if (option('i'))
        return tolower((unsigned char)*pattern) == tolower((unsigned char)c);
    return *pattern == c;
}

static size_t atom_length(const char *pattern)
{
    return *pattern == '\\' && pattern[1] ? 2 : 1;
}

static bool matches_here(const char *pattern, const char *text)
{
    while (*pattern) {
        if (pattern[0] == '$' && !pattern[1])
            return !*text;
        size_t length = atom_length(pattern);
        if (pattern[length] == '*') {
            do {
                if (matches_here(pattern + length + 1, text))
                    return true;
            } while (*text && matches_char(pattern, *text++));
            return false;
        }
        if (!*text || !matches_char(pattern, *text))
            return false;
        pattern += length;
        text++;
    }
    return true;
}

static bool matches(const char *pattern, const char *text)
{
    if (*pattern == '^')
        return matches_here(pattern + 1, text);
    do {
        if (matches_here(pattern, text))
            return true;
    } while (*text++);
    return false;
}

/* Counts the matching lines and prints them, depending on the options. */
static int search(FILE *stream, const char *name)
{
    unsigned long before = found, number = 0;
    char *line;
    while ((line = read_line(stream))) {
        number++;
        if (matches(pattern_wanted, line) != option('v')) {
            found++;
            if (!option('c') && !option('q')) {
                if (prints_names)
                    printf("%s:", name);
                if (option('n'))
                    printf("%lu:", number);
                puts(line);
            }
        }
        free(line);
    }
    if (option('c') && !option('q'))
        printf(prints_names ? "%s:%lu\n" : "%s%lu\n", prints_names ? name : "", found - before);
    return 0;
}

int main(int argc, char **argv)
{
    int first = read_options(argc, argv, "vicnq", 1, "[-vicnq] pattern [file ...]");
    pattern_wanted = argv[first++];
    prints_names = argc - first > 1;
    int errors = act_on_inputs(argc, argv, first, search);
    return errors ? 2 : found ? 0 : 1;
}
