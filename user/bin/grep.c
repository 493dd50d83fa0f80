/* SPDX-License-Identifier: BSD-2-Clause */
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

#include <user/bin/lines.h>
#include <user/bin/util.h>

static bool flags[26];
#define FLAG(letter) flags[(letter) - 'a']

static bool matches_char(const char *pattern, char c)
{
    if (*pattern == '.')
        return true;
    if (*pattern == '\\' && pattern[1])
        pattern++;
    if (FLAG('i'))
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

/* Returns the number of matching lines and prints them, depending on the options. */
static unsigned long search(FILE *stream, const char *pattern, const char *name)
{
    unsigned long found = 0, number = 0;
    char *line;
    while ((line = read_line(stream))) {
        number++;
        if (matches(pattern, line) != FLAG('v')) {
            found++;
            if (!FLAG('c') && !FLAG('q')) {
                if (name)
                    printf("%s:", name);
                if (FLAG('n'))
                    printf("%lu:", number);
                puts(line);
            }
        }
        free(line);
    }
    if (FLAG('c') && !FLAG('q'))
        printf(name ? "%s:%lu\n" : "%s%lu\n", name ? name : "", found);
    return found;
}

int main(int argc, char **argv)
{
    const char *synopsis = "[-vicnq] pattern [file ...]";
    int first = read_flags(argc, argv, "vicnq", flags, synopsis);
    if (first == argc)
        usage(synopsis);
    const char *pattern = argv[first++];
    unsigned long found = 0;
    int errors = 0;
    if (first == argc)
        found = search(stdin, pattern, NULL);
    for (int i = first; i < argc; i++) {
        FILE *stream = fopen(argv[i], "r");
        if (!stream) {
            errors |= complain("%s", argv[i]);
            continue;
        }
        found += search(stream, pattern, argc - first > 1 ? argv[i] : NULL);
        fclose(stream);
    }
    return errors ? 2 : found ? 0 : 1;
}
