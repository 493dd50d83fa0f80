/* wc.c - counts lines (-l), words (-w) and bytes (-c). */
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include <user/bin/util.h>

struct counts {
    unsigned long long lines, words, bytes;
};
static struct counts total;

static int count_stream(int fd, struct counts *counts)
{
    static char buffer[16384];
    bool in_word = false;
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
        counts->bytes += (unsigned long long)n;
        for (ssize_t i = 0; i < n; i++) {
            bool space = isspace((unsigned char)buffer[i]);
            counts->lines += buffer[i] == '\n';
            counts->words += !space && !in_word;
            in_word = !space;
        }
    }
    return n < 0 ? -1 : 0;
}

static void print_counts(const struct counts *counts, const char *name)
{
    bool all = !option('l') && !option('w') && !option('c');
    if (all || option('l'))
        printf("%7llu ", counts->lines);
    if (all || option('w'))
        printf("%7llu ", counts->words);
    if (all || option('c'))
        printf("%7llu ", counts->bytes);
    printf("%s\n", name);
}

static int count_file(FILE *stream, const char *name)
{
    struct counts counts = {0};
    if (count_stream(fileno(stream), &counts) < 0)
        return complain("%s", name ? name : "standard input");
    print_counts(&counts, name ? name : "");
    total.lines += counts.lines;
    total.words += counts.words;
    total.bytes += counts.bytes;
    return 0;
}

int main(int argc, char **argv)
{
    int first = read_options(argc, argv, "lwc", 0, "[-lwc] [file ...]");
    int status = act_on_inputs(argc, argv, first, count_file);
    if (argc - first > 1)
        print_counts(&total, "total");
    return status;
}
