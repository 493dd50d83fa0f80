/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/tracegen.c - the program around synthetic.c and trace_text.c: writes a synthetic trace, and
 * prints how many events it has, or one from text.
 *
 * usage: tracegen [OPTION]... DIRECTORY     (tracegen --help)
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <tests/unit/tarn/trace_text.h>

static const char help[] = "usage: tracegen [OPTION]... DIRECTORY\n\n"
                           "  --metadata FILE  the schema's metadata (build/gen/trace/metadata.tsdl)\n"
                           "  --events N       about so many events in all (100000)\n"
                           "  --cpus N         processors (4)\n"
                           "  --seed N         of the random numbers (1)\n"
                           "  --order le|be    byte order (le)\n"
                           "  --packet BYTES   size of a packet (65536)\n"
                           "  --freq HZ        of the clock (1000000000)\n"
                           "  --uniform        every event of the schema alike\n"
                           "  --work           threads that work: events nest as they do in a system\n"
                           "  --losses         some events and packets are lost\n"
                           "  --ties           many events have equal times\n"
                           "  --text           what standard input says (trace_text.h)\n";

static bool is_text;

static bool parse_options(struct synthetic_options *options, int argc, char **argv)
{
    static const struct option names[] = {{"metadata", required_argument, NULL, 'm'},
                                          {"events", required_argument, NULL, 'n'},
                                          {"cpus", required_argument, NULL, 'c'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"order", required_argument, NULL, 'o'},
                                          {"packet", required_argument, NULL, 'p'},
                                          {"freq", required_argument, NULL, 'f'},
                                          {"uniform", no_argument, NULL, 'u'},
                                          {"work", no_argument, NULL, 'w'},
                                          {"losses", no_argument, NULL, 'l'},
                                          {"ties", no_argument, NULL, 't'},
                                          {"text", no_argument, NULL, 'x'},
                                          {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        uint64_t number = optarg ? strtoull(optarg, NULL, 0) : 0;

        switch (option) {
        case 'm':
            options->metadata = optarg;
            break;
        case 'n':
            options->events = number;
            break;
        case 'c':
            options->cpus = number;
            break;
        case 's':
            options->seed = number;
            break;
        case 'o':
            options->order = optarg;
            break;
        case 'p':
            options->packet = number;
            break;
        case 'f':
            options->freq = number;
            break;
        case 'u':
            options->uniform = true;
            break;
        case 'w':
            options->work = true;
            break;
        case 'l':
            options->losses = true;
            break;
        case 't':
            options->ties = true;
            break;
        case 'x':
            is_text = true;
            break;
        default:
            return false;
        }
    }
    options->directory = argv[optind];
    return optind == argc - 1 && options->cpus > 0 && options->packet >= 4096 && options->packet % 8 == 0 &&
           options->freq > 0;
}

int main(int argc, char **argv)
{
    struct synthetic_options options = SYNTHETIC_DEFAULTS;
    struct fail fail;
    uint64_t written = 0;
    char *text = NULL;
    size_t size = 0;

    if (!parse_options(&options, argc, argv)) {
        fputs(help, stderr);
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
