/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c - `tarn list`: prints the events of all CPUs in order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/command/list.h>
#include <tools/tarn/options.h>
#include <tools/tarn/read/order.h>
#include <unistd.h>

static const char help[] =
    "Prints the events of all CPUs in order of time. Reads only the packets of the requested "
    "range.\n\n" FILTER_HELP "  --limit N           print at most the first N of these events\n"
    "  --tail N            print only the last N of these events\n"
    "  --json              print JSON lines\n"
    "  --csv               print comma-separated values with a heading\n"
    "  --babeltrace        print like babeltrace2 --clock-cycles --no-delta --names=all\n"
    "  --clock             print times since the clock's origin instead of the trace's start\n"
    "  --cycles            print times in clock ticks\n"
    "  --numbers           begin each line with the event's number, for `tarn goto`\n"
    "  --help              print this help\n";

enum {
    OPTION_LIMIT = OPTION_OWN,
    OPTION_TAIL,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_BABELTRACE,
    OPTION_CLOCK,
    OPTION_CYCLES,
    OPTION_NUMBERS
};

static bool take_option(void *context, int option, const char *value, struct fail *fail)
{
    struct list *list = context;

    switch (option) {
    case OPTION_LIMIT:
        return option_count(value, &list->limit, fail);
    case OPTION_TAIL:
        return option_count(value, &list->tail, fail);
    case OPTION_JSON:
    case OPTION_CSV:
    case OPTION_BABELTRACE:
        return option_form(&list->style,
                           option == OPTION_JSON  ? PRINT_JSON
                           : option == OPTION_CSV ? PRINT_CSV
                                                  : PRINT_BABELTRACE,
                           "--json, --csv and --babeltrace", fail);
    case OPTION_CLOCK:
        list->time = PRINT_TIME_CLOCK;
        return true;
    case OPTION_CYCLES:
        list->time = PRINT_TIME_CYCLES;
        return true;
    case OPTION_NUMBERS:
        return list->has_numbers = true;
    default:
        return filter_option(&list->filter, option, value);
    }
}

static const struct option known[] = {FILTER_OPTIONS,
                                      {"limit", required_argument, NULL, OPTION_LIMIT},
                                      {"tail", required_argument, NULL, OPTION_TAIL},
                                      {"json", no_argument, NULL, OPTION_JSON},
                                      {"csv", no_argument, NULL, OPTION_CSV},
                                      {"babeltrace", no_argument, NULL, OPTION_BABELTRACE},
                                      {"clock", no_argument, NULL, OPTION_CLOCK},
                                      {"cycles", no_argument, NULL, OPTION_CYCLES},
                                      {"numbers", no_argument, NULL, OPTION_NUMBERS},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};
static const struct command_line line = {.words = "[OPTION]... DIRECTORY",
                                         .help = help,
                                         .known = known,
                                         .letters = "",
                                         .least = 1,
                                         .most = 1,
                                         .take = take_option};

static void print_number(struct out *out, uint64_t number)
{
    char text[PUT_NUMBER_MAX + 2];
    int length = snprintf(text, sizeof(text), "%10llu ", (unsigned long long)number);

    out_commit(out, put_bytes(out_reserve(out, (size_t)length), text, (size_t)length));
}

uint64_t list_walk(const struct list *list, const struct trace *trace, const struct slice *slice,
                   struct reporter *reporter, struct printer *printer, uint64_t skip)
{
    struct merge merge;
    struct names names;
    struct cursor *cursor;
    const bool *streams = list->filter.streams;
    bool needs_names = list->filter.process != NULL, all = list->has_numbers;
    uint64_t count = 0, number, next = 0;

    names_open(&names, &trace->schema);
    merge_open(&merge, trace, all ? NULL : streams, all ? 0 : slice->from, reporter);
    while ((count < skip || count - skip < list->limit) && (cursor = merge_next(&merge)) != NULL) {
        int64_t ns = cursor_ns(cursor);

        number = next++;
        if (needs_names)
            names_learn(&names, &cursor->event);
        if (cursor->ticks >= list->filter.to_ticks || ns >= slice->to_ns)
            break;
        if (ns < slice->from_ns || cursor->ticks < slice->from ||
            !filter_wants(&list->filter, cursor, &names) || (streams != NULL && !streams[cursor->rank]))
            continue;
        if (printer != NULL && count >= skip && all)
            print_number(printer->out, number);
        if (printer != NULL && count >= skip)
            print_event(printer, cursor);
        count++;
        if (printer != NULL && printer->out->failed)
            break;
    }
    merge_close(&merge);
    names_close(&names);
    return count;
}

/* Returns the time from which to read the last events: goes back from the end, each time four times as far,
 * until enough events are found. SKIP is set to the number of surplus ones. */
static uint64_t find_tail(const struct list *list, const struct trace *trace, uint64_t *skip)
{
    uint64_t last = list->filter.to_ticks < trace->end ? list->filter.to_ticks : trace->end;
    struct list counting = *list;

    counting.limit = UINT64_MAX;
    for (uint64_t span = 1u << 16;; span *= 4) {
        uint64_t from = span < last && last - span > trace->begin ? last - span : 0;
        struct losses ignored;
        uint64_t count;

        if (from < list->filter.from_ticks)
            from = list->filter.from_ticks;
        losses_open(&ignored, trace);
        ignored.quiet = true;
        count = list_walk(&counting, trace, &(struct slice){from, INT64_MIN, INT64_MAX}, &ignored.reporter,
                          NULL, 0);
        if (count >= list->tail || from == list->filter.from_ticks || from == 0 || span >= 1ull << 62) {
            *skip = count > list->tail ? count - list->tail : 0;
            return from;
        }
    }
}

/* Lists in one pass, for options such as --limit that depend on all events before. */
static bool list_in_order(const struct list *list, const struct trace *trace, struct losses *losses,
                          uint64_t *count, struct fail *fail)
{
    struct out out;
    struct printer printer;
    struct slice all = {list->filter.from_ticks, INT64_MIN, INT64_MAX};
    uint64_t skip = 0;

    out_open(&out, STDOUT_FILENO, 0);
    if (!printer_open(&printer, trace, &out, list->style, list->time, fail)) {
        out_close(&out);
        return false;
    }
    if (list->tail != UINT64_MAX)
        all.from = find_tail(list, trace, &skip);
    print_heading(&printer);
    *count = list_walk(list, trace, &all, &losses->reporter, &printer, skip);
    printer_close(&printer);
    return out_close(&out) || fail_set(fail, "cannot write: %s", strerror(errno));
}

/* Reports why nothing was printed. */
static void complain_of_choice(const struct list *list, const struct trace *trace)
{
    if (trace->begin >= trace->end)
        complain("%s: the trace is empty", list->directory);
    else if (list->limit != 0 && list->tail != 0)
        complain(
            "%s: no event matches; `tarn info` shows when the trace begins and ends, `tarn stats` what it "
            "contains",
            list->directory);
}

static int list_events(struct list *list, const struct trace *trace)
{
    struct slices slices = {NULL, 0};
    struct losses losses;
    struct fail fail;
    uint64_t count = 0;
    bool fine;

    if (!filter_resolve(&list->filter, trace, &fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    losses_open(&losses, trace);
    losses.from = list->filter.from_ticks;
    losses.to = list->filter.to_ticks;
    losses.as_babeltrace = list->style == PRINT_BABELTRACE;
    losses_judge(&losses);
    if (list->limit == UINT64_MAX && list->tail == UINT64_MAX && list->filter.process == NULL &&
        !list->has_numbers)
        slices_plan(&slices, trace, &list->filter);
    fine = slices.count > 1 ? list_slices(list, trace, &slices, &losses, &count, &fail)
                            : list_in_order(list, trace, &losses, &count, &fail);
    slices_free(&slices);
    if (!fine) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    if (!losses.as_babeltrace) {
        if (count == 0)
            complain_of_choice(list, trace);
        losses_summary(&losses);
    }
    return losses_status(&losses);
}

int run_list(int argc, char **argv)
{
    struct list list = {.limit = UINT64_MAX, .tail = UINT64_MAX};
    struct trace trace;
    struct fail fail;
    int status = take_command_line(&line, &list, argc, argv);

    if (status >= 0)
        return status;
    if (list.limit != UINT64_MAX && list.tail != UINT64_MAX)
        return complain_of_words(&line, argv[0], "--limit and --tail exclude each other");
    if (list.has_numbers && list.style != PRINT_TEXT)
        return complain_of_words(&line, argv[0], "--numbers requires text output");
    list.directory = argv[optind];
    if (!trace_open(&trace, list.directory, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    status = list_events(&list, &trace);
    filter_free(&list.filter);
    trace_close(&trace);
    return status;
}
