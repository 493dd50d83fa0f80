/* SPDX-License-Identifier: BSD-2-Clause */
/* wc.c - counts lines (-l), words (-w) and bytes (-c). */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <user/bin/util.h>

struct counts {
    unsigned long long lines, words, bytes;
};
static bool flags[26];

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
    bool all = !flags['l' - 'a'] && !flags['w' - 'a'] && !flags['c' - 'a'];
    if (all || flags['l' - 'a'])
        printf("%7llu ", counts->lines);
    if (all || flags['w' - 'a'])
        printf("%7llu ", counts->words);
    if (all || flags['c' - 'a'])
        printf("%7llu ", counts->bytes);
    printf("%s\n", name);
}

int main(int argc, char **argv)
{
    int first = read_flags(argc, argv, "lwc", flags, "[-lwc] [file ...]");
    int status = 0;
    struct counts total = {0};
    if (first == argc) {
        if (count_stream(0, &total) < 0)
            status = complain("standard input");
        print_counts(&total, "");
    }
    for (int i = first; i < argc; i++) {
        struct counts counts = {0};
        int fd = open(argv[i], O_RDONLY);
        if (fd < 0 || count_stream(fd, &counts) < 0) {
            status = complain("%s", argv[i]);
        } else {
            print_counts(&counts, argv[i]);
            total.lines += counts.lines;
            total.words += counts.words;
            total.bytes += counts.bytes;
        }
        if (fd >= 0)
            close(fd);
    }
    if (argc - first > 1)
        print_counts(&total, "total");
    return status;
}
