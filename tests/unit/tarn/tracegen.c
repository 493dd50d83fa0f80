/*
 * tests/unit/tarn/tracegen.c - writes synthetic traces of any size, from the system's real metadata.
 *
 * For benchmarks, comparisons with other readers, unit tests and the fuzzer. Events have the layouts of the
 * metadata and plausible values: what threads do that work (workload.c), or every event alike (synthetic.c).
 * Same options, same bytes. Both byte orders are written byte by byte, so they need no machine of their own.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tests/unit/tarn/synthetic.h>
#include <trace/format/metadata.h>

struct options options = {.metadata = "build/gen/trace/metadata.tsdl",
                          .order = "le",
                          .events = 100000,
                          .cpus = 4,
                          .seed = 1,
                          .packet = 65536,
                          .freq = 1000000000};
struct schema schema;

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
    return optind == argc - 1;
}

static FILE *open_file(const char *path, const char *how)
{
    FILE *file = fopen(path, how);
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    return file;
}

static void close_file(FILE *file, const char *path)
{
    if (ferror(file) | fclose(file)) {
        perror(path);
        exit(2);
    }
}

static FILE *create_file(const char *name, char path[static 4096])
{
    snprintf(path, 4096, "%s/%s", options.directory, name);
    return open_file(path, "wb");
}

/* Fills the names in. */
static void write_metadata(void)
{
    const struct trace_metadata_values values = {.byte_order = options.order,
                                                 .hostname = "synthetic",
                                                 .architecture = "synthetic",
                                                 .cpu_count = (uint32_t)options.cpus,
                                                 .clock_hz = options.freq,
                                                 .clock_offset_ns = 1700000000333333333};
    static char template[TSDL_BYTES_MAX], text[TSDL_BYTES_MAX + 1];
    FILE *file = open_file(options.metadata, "rb");
    struct fail fail;
    char path[4096];
    trace_metadata_expand(text, TSDL_BYTES_MAX, template, fread(template, 1, sizeof(template), file),
                          &values);
    close_file(file, options.metadata);
    mkdir(options.directory, 0777); /* if it fails, writing will too */
    file = create_file("metadata", path);
    fputs(text, file);
    close_file(file, path);
    if (!schema_build(&schema, text, strlen(text), &fail)) {
        complain("%s", fail.text);
        exit(2);
    }
}

static void write_stream(uint32_t cpu, uint64_t events)
{
    struct writer writer = {.cpu = cpu, .time = 0xffffff00};
    char name[16], path[4096];
    snprintf(name, sizeof(name), "cpu%u", cpu);
    writer.file = create_file(name, path);
    writer.packet = alloc_zero(1, options.packet + EVENT_BYTES_MAX);
    if (options.losses && cpu == 1)
        writer.discarded = 7; /* before the first packet */
    (options.uniform ? write_uniform : write_workload)(&writer, events);
    end_packet(&writer);
    free(writer.packet);
    close_file(writer.file, path);
}

int main(int argc, char **argv)
{
    if (!parse_options(argc, argv)) {
        fputs("usage: tracegen [OPTION]... DIRECTORY\n", stderr);
        for (size_t i = 0; i < KNOWN; i++)
            fprintf(stderr, "  --%-9s %s\n", known[i].name, known[i].help);
        return 2;
    }
    write_metadata();
    for (uint32_t cpu = 0; cpu < options.cpus; cpu++)
        write_stream(cpu, options.events / options.cpus);
    return 0;
}
