/* sort.c - sorts lines; -n: by their leading number; -r: descending; -u: each line once. */
#include <stdlib.h>
#include <string.h>

#include <user/bin/util.h>

static char **lines;
static size_t count;

static int compare(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = 0;
    if (option('n')) {
        long long x = strtoll(left, NULL, 10), y = strtoll(right, NULL, 10);
        order = (x > y) - (x < y);
    }
    if (!order)
        order = strcmp(left, right);
    return option('r') ? -order : order;
}

static int take_lines(FILE *stream, const char *name)
{
    char *line;
    while ((line = read_line(stream)))
        lines = append_text(lines, &count, line);
    return 0;
}

int main(int argc, char **argv)
{
    int status =
        act_on_inputs(argc, argv, read_options(argc, argv, "nru", 0, "[-nru] [file ...]"), take_lines);
    if (count)
        qsort(lines, count, sizeof *lines, compare);
    for (size_t i = 0; i < count; i++) {
        if (!option('u') || i == 0 || strcmp(lines[i - 1], lines[i]))
            puts(lines[i]);
    }
    return status;
}
