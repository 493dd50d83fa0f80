/*
 * trace_bench.c - `trace bench`: has the kernel measure what logging each of the system's events costs
 * (kernel/trace/bench.c), and prints what it has added to the trace's metadata.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/runtime.h>
#include <tarn/trace_control.h>

#include <trace/events.h>
#include <trace/format/metadata.h>
#include <trace/format/store.h>
#include <user/bin/trace.h>
#include <user/bin/util.h>

#define METADATA_MAX (1u << 20)

static unsigned measure_events(void)
{
    unsigned count = 0;
    for (uint32_t class_number = 0; class_number < TRACE_CLASS_COUNT; class_number++)
        for (uint32_t minor = 0; minor < trace_class_table[class_number].minor_limit; minor++)
            if (trace_class_table[class_number].events[minor])
                count += sys_trace_control(SLOT_TRACE, TRACE_OP_BENCH, TRACE_ID(class_number, minor), 0) == 0;
    return count;
}

static char *read_text(void)
{
    char *text = malloc(METADATA_MAX + 1);
    size_t length = 0;
    int64_t got = text ? 1 : 0;
    while (got > 0 && length < METADATA_MAX) {
        got =
            sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, length, text + length, METADATA_MAX - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (text)
        text[length] = '\0';
    return text;
}

/* The last costs in TEXT; NULL: none. */
static const char *find_costs(const char *text)
{
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, TRACE_COSTS_BEGIN)); at++)
        last = at;
    return last ? last + strlen(TRACE_COSTS_BEGIN) : NULL;
}

/* Thousandths; "-" is not a number. */
static void print_number(const char *word)
{
    char *end;
    uint64_t value = strtoull(word, &end, 10);
    if (end == word)
        printf(" %12s", "-");
    else
        printf(" %8" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
}

static void print_costs(const char *line)
{
    char name[64], word[4][24];
    printf("%-28s %12s %12s %12s %12s\n", "event", "ticks least", "median", "instr. least", "median");
    for (; line && sscanf(line, " * %63s %23s %23s %23s %23s", name, word[0], word[1], word[2], word[3]) == 5;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        printf("%-28s", name);
        for (unsigned i = 0; i < 4; i++)
            print_number(word[i]);
        putchar('\n');
    }
}

int bench_events(int argc, char **argv)
{
    if (!slot_is_filled(SLOT_TRACE))
        return refuse_without("trace");
    if (measure_events() == 0)
        return refuse("this kernel logs no events");
    int64_t error = sys_trace_control(SLOT_TRACE, TRACE_OP_BENCH, ~0ull, 0);
    if (error)
        return refuse("the metadata are full: %s", tarn_error_text(error));
    char *text = read_text();
    if (!text)
        return refuse("out of memory");
    print_costs(find_costs(text));
    free(text);
    return 0;
}
