/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/tracegen.c - the program around synthetic.c and trace_text.c: writes a synthetic trace, and
 * prints how many events it has, or one from text.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <tests/unit/tarn/trace_text.h>

static struct synthetic_options options = SYNTHETIC_DEFAULTS;
static bool is_text;

static const struct {
    const char *name;
    const char **word; /* one of the three */
    uint64_t *number;
    bool *flag;
    const char *help;
} known[] = {
    {"metadata", &options.metadata, .help = "the schema's metadata (build/gen/trace/metadata.tsdl)"},
    {"events", .number = &options.events, .help = "about so many events in all (100000)"},
    {"cpus", .number = &options.cpus, .help = "processors (4)"},
    {"seed", .number = &options.seed, .help = "of the random numbers (1)"},
    {"order", &options.order, .help = "byte order, le or be (le)"},
    {"packet", .number = &options.packet, .help = "bytes of a packet (65536)"},
    {"freq", .number = &options.freq, .help = "of the clock, in Hz (1000000000)"},
    {"uniform", .flag = &options.uniform, .help = "every event of the schema alike, not threads that work"},
    {"losses", .flag = &options.losses, .help = "some events and packets are lost"},
    {"ties", .flag = &options.ties, .help = "with --uniform: many events have equal times"},
    {"text", .flag = &is_text, .help = "what standard input says (trace_text.h)"},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool parse_options(int argc, char **argv)
{
    struct option names[KNOWN + 1] = {0};
    int option;

    for (size_t i = 0; i < KNOWN; i++)
        names[i] =
            (struct option){known[i].name, known[i].flag ? no_argument : required_argument, NULL, (int)i};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == '?')
            return false;
        if (known[option].flag)
            *known[option].flag = true;
        else if (known[option].number)
            *known[option].number = strtoull(optarg, NULL, 0);
        else
            *known[option].word = optarg;
    }
    options.directory = argv[optind];
    return optind == argc - 1 && options.cpus > 0 && options.packet >= 4096 && options.packet % 8 == 0 &&
           options.freq > 0;
}

int main(int argc, char **argv)
{
    struct fail fail;
    uint64_t written = 0;
    char *text = NULL;
    size_t size = 0;

    if (!parse_options(argc, argv)) {
        fputs("usage: tracegen [OPTION]... DIRECTORY\n", stderr);
        for (size_t i = 0; i < KNOWN; i++)
            fprintf(stderr, "  --%-9s %s\n", known[i].name, known[i].help);
        return 2;
    }
    if (is_text ? getdelim(&text, &size, '\0', stdin) < 0 || !trace_text_write(&options, text, &fail)
                : !synthetic_write(&options, &written, &fail)) {
        complain("%s", fail.text);
        return 2;
    }
    free(text);
    printf("%llu\n", (unsigned long long)written);
    return 0;
}
