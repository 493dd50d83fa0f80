/* ctl.c - `tarn ctl SOURCE COMMAND`: shows and sets what a running guest traces. The guest executes the
 * commands (trace/print/commands.h), except `status`, which guest memory answers, too. */
#include <inttypes.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/help.h>
#include <tools/tarn/print/print_table.h>
#include <tools/tarn/source/source.h>
#include <trace/events.h>
#include <trace/print/commands.h>

struct ctl {
    struct source *source;
    bool json;
    double wait;
};

static void describe_commands(struct page *page, const struct command *self)
{
    page_heading(page, "Commands");
    for (uint32_t i = 0; i < trace_command_count; i++)
        page_entry(page, trace_commands[i].name,
                   trace_commands[i].arguments[0] ? trace_commands[i].arguments : NULL,
                   trace_commands[i].help);
}

struct statistics {
    struct wire_hello hello;
    uint32_t count, low_water;
    struct wire_cpu_status cpu[WIRE_CPUS_MAX];
    uint64_t switches[WIRE_CLASSES];
};

static void print_statistics(const struct statistics *statistics)
{
    const struct wire_hello *hello = &statistics->hello;
    printf("machine   %s, %u CPUs, %s-endian, clock %.3f MHz\n", hello->machine, hello->cpu_count,
           hello->byte_order == 1 ? "little" : "big", (double)hello->clock_hz * 1e-6);
    printf("mode      %s%s\n", trace_mode_name(hello->mode),
           hello->flags & WIRE_HELLO_PULLING ? ", being pulled" : "");
    printf("low water %u %% of a CPU's ring\n", statistics->low_water);
    if (hello->flags & WIRE_HELLO_PREVIOUS)
        printf("previous  the trace of the previous boot is in memory: tarn pull --previous\n");
    printf("buffers   %" PRIu64 " of %" PRIu64 " KiB per CPU\n", hello->buffer_count,
           hello->buffer_bytes >> 10);
    printf("mask      0x%016" PRIx64 "\n", hello->mask);
    printf("classes  ");
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (hello->mask >> class & 1 && trace_class_table[class].name)
            printf(" %s", trace_class_table[class].name);
    printf("\n");
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (statistics->switches[class] != ~0ull && trace_class_table[class].name)
            printf("switches  %s 0x%016" PRIx64 "\n", trace_class_table[class].name,
                   statistics->switches[class]);
    printf("\n%4s %12s %12s %12s %12s\n", "cpu", "packet", "consumed", "discarded", "torn words");
    for (uint32_t cpu = 0; cpu < statistics->count; cpu++)
        printf("%4u %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", cpu,
               statistics->cpu[cpu].head, statistics->cpu[cpu].next, statistics->cpu[cpu].discarded,
               statistics->cpu[cpu].torn);
}

static void print_statistics_json(const struct statistics *statistics)
{
    const struct wire_hello *hello = &statistics->hello;
    const char *comma = "";
    printf("{\"machine\": ");
    print_json_string(stdout, hello->machine);
    printf(", \"cpus\": %u, \"byte_order\": \"%s\", \"clock_hz\": %" PRIu64 ", \"mode\": \"%s\", "
           "\"pulling\": %s, \"low_water\": %u, \"buffer_bytes\": %" PRIu64 ", \"buffer_count\": %" PRIu64
           ", \"mask\": \"0x%016" PRIx64 "\", \"switches\": {",
           hello->cpu_count, hello->byte_order == 1 ? "little" : "big", hello->clock_hz,
           trace_mode_name(hello->mode), hello->flags & WIRE_HELLO_PULLING ? "true" : "false",
           statistics->low_water, hello->buffer_bytes, hello->buffer_count, hello->mask);
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++)
        if (trace_class_table[class].name) {
            printf("%s\"%s\": \"0x%016" PRIx64 "\"", comma, trace_class_table[class].name,
                   statistics->switches[class]);
            comma = ", ";
        }
    printf("}, \"processors\": [");
    for (uint32_t cpu = 0; cpu < statistics->count; cpu++)
        printf("%s{\"cpu\": %u, \"packet\": %" PRIu64 ", \"consumed\": %" PRIu64 ", \"discarded\": %" PRIu64
               ", \"torn_words\": %" PRIu64 "}",
               cpu ? ", " : "", cpu, statistics->cpu[cpu].head, statistics->cpu[cpu].next,
               statistics->cpu[cpu].discarded, statistics->cpu[cpu].torn);
    printf("]}\n");
}

static bool show_status(const struct ctl *ctl, struct fail *fail)
{
    const struct wire_request request = {.operation = WIRE_OP_STATISTICS};
    struct statistics statistics;
    struct source_reply reply;
    if (!source_control(ctl->source, &request, "", &reply, fail))
        return false;
    const uint8_t *data = reply.data;
    if (reply.size < WIRE_HELLO_BYTES + 8)
        return fail_set(fail, "the guest's statistics are only %zu bytes long", reply.size);
    wire_get_hello(data, &statistics.hello);
    statistics.count = wire_get32(data + WIRE_HELLO_BYTES);
    statistics.low_water = wire_get32(data + WIRE_HELLO_BYTES + 4);
    if (statistics.count > WIRE_CPUS_MAX ||
        reply.size < WIRE_HELLO_BYTES + 8 + statistics.count * WIRE_CPU_STATUS_BYTES + 8 * WIRE_CLASSES)
        return fail_set(fail, "the guest's statistics are invalid");
    data += WIRE_HELLO_BYTES + 8;
    for (uint32_t cpu = 0; cpu < statistics.count; cpu++, data += WIRE_CPU_STATUS_BYTES)
        wire_get_cpu_status(data, &statistics.cpu[cpu]);
    for (uint32_t class = 0; class < WIRE_CLASSES; class ++, data += 8)
        statistics.switches[class] = wire_get64(data);
    (ctl->json ? print_statistics_json : print_statistics)(&statistics);
    return true;
}

static bool run_words(struct ctl *ctl, int count, char **words, struct fail *fail)
{
    if (strcmp(words[0], "status") == 0)
        return show_status(ctl, fail);
    char *answer = source_command(ctl->source, count, words, fail);
    if (answer == NULL)
        return false;
    if (ctl->json) {
        printf("{\"status\": 0, \"text\": ");
        print_json_string(stdout, answer);
        printf("}\n");
    } else {
        fputs(answer, stdout);
    }
    free(answer);
    return true;
}

static const struct command_option known[] = {
    {FLAG("json", struct ctl, json, "print JSON")},
    {REAL("wait", "SEC", struct ctl, wait, 0, 1e9, "keep trying to connect for SEC seconds (0)")},
    {.name = NULL}};

static int run_ctl(int argc, char **argv)
{
    static char *default_words[] = {"status", NULL};
    char error[TRACE_COMMAND_ERROR_MAX];
    struct ctl ctl = {0};
    struct fail fail;
    int status = command_parse(&ctl_command, (void *[]){&ctl}, argc, argv);
    if (status >= 0)
        return status;
    const char *name = argv[optind++];
    char **words = optind < argc ? argv + optind : default_words;
    const int count = optind < argc ? argc - optind : 1;
    bool ok = trace_command_check((uint32_t)count, words, error) ||
              fail_set(&fail, "%s; see `tarn ctl --help`", error);
    if (ok) {
        ctl.source = open_source(name, ctl.wait, &fail);
        ok = ctl.source && run_words(&ctl, count, words, &fail);
        if (ctl.source)
            ctl.source->class->close(ctl.source);
    }
    return ok ? EXIT_OK : fail_report(&fail, EXIT_USAGE);
}

const struct command ctl_command =
    COMMAND("ctl", "show and set what a running guest traces", "SOURCE [OPTION]... [COMMAND [ARGUMENT]...]",
            1, INT_MAX, run_ctl, describe_commands, {NULL, known});
