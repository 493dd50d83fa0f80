/* SPDX-License-Identifier: BSD-2-Clause */
/* sort.c - sorts lines; -n: by their leading number; -r: descending; -u: each line once. */
#include <stdlib.h>
#include <string.h>

#include <user/bin/lines.h>
#include <user/bin/util.h>

static bool flags[26];
static char **lines;
static size_t count, room;

static int compare(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = 0;
    if (flags['n' - 'a']) {
        long long x = strtoll(left, NULL, 10), y = strtoll(right, NULL, 10);
        order = (x > y) - (x < y);
    }
    if (!order)
        order = strcmp(left, right);
    return flags['r' - 'a'] ? -order : order;
}

static void take_lines(FILE *stream)
{
    char *line;
    while ((line = read_line(stream))) {
        if (count == room) {
            room = room ? room * 2 : 256;
            lines = realloc(lines, room * sizeof *lines);
            if (!lines)
                die("out of memory");
        }
        lines[count++] = line;
    }
}

int main(int argc, char **argv)
{
    int first = read_flags(argc, argv, "nru", flags, "[-nru] [file ...]");
    int status = 0;
    if (first == argc)
        take_lines(stdin);
    for (int i = first; i < argc; i++) {
        FILE *stream = fopen(argv[i], "r");
        if (!stream) {
            status = complain("%s", argv[i]);
            continue;
        }
        take_lines(stream);
        fclose(stream);
    }
    if (count)
        qsort(lines, count, sizeof *lines, compare);
    for (size_t i = 0; i < count; i++) {
        if (!flags['u' - 'a'] || i == 0 || strcmp(lines[i - 1], lines[i]))
            puts(lines[i]);
    }
    return status;
}
