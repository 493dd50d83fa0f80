/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/command/diff_print.c - what has changed, as text, JSON and CSV; see diff.h. */
#include <inttypes.h>
#include <stdio.h>
#include <tools/tarn/command/diff.h>
#include <tools/tarn/print/print_table.h>

static void print_side(const struct side *side, const char *name)
{
    printf("\"%s\":{\"trace\":", name);
    print_json_string(stdout, side->directory);
    printf(",\"unit\":%.9f,\"lost_events\":%" PRIu64 ",\"lost_packets\":%" PRIu64 "},", side->unit,
           side->losses.lost_events, side->losses.lost_packets);
}

static const char *unit_name(const struct diff *diff)
{
    return diff->is_absolute ? "nothing" : diff->unit_event != NULL ? diff->unit_event : "second";
}

static void print_unit(const struct diff *diff, int side)
{
    const char *directory = diff->sides[side].directory;
    double unit = diff->sides[side].unit;

    if (diff->is_absolute)
        printf("%c: %s: as it is, whatever its length\n", 'A' + side, directory);
    else if (diff->unit_event != NULL)
        printf("%c: %s: %.0f %s; what adds up is told by each\n", 'A' + side, directory, unit,
               diff->unit_event);
    else
        printf("%c: %s: %.6g s; what adds up is told by second\n", 'A' + side, directory, unit);
}

static void print_json(const struct diff *diff)
{
    fputc('{', stdout);
    print_side(&diff->sides[0], "a");
    print_side(&diff->sides[1], "b");
    fputs("\"per\":", stdout);
    print_json_string(stdout, unit_name(diff));
    fputs(",\"tables\":{", stdout);
    table_print_json(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc(',', stdout);
        table_print_json(stdout, &diff->results[i], diff->top);
    }
    fputs("}}\n", stdout);
}

static void print_text(const struct diff *diff)
{
    size_t same = 0;

    for (int i = 0; i < 2; i++)
        print_unit(diff, i);
    if (diff->largest.count != 0)
        table_print_text(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        same += diff->results[i].count == 0;
        if (diff->results[i].count != 0)
            table_print_text(stdout, &diff->results[i], diff->top);
    }
    if (same != 0)
        printf("\n%zu of %zu tables have not changed\n", same, diff->result_count);
}

void diff_print(const struct diff *diff)
{
    if (diff->format == ANSWER_JSON) {
        print_json(diff);
        return;
    }
    if (diff->format == ANSWER_TEXT) {
        print_text(diff);
        return;
    }
    table_print_csv(stdout, &diff->largest, diff->top);
    for (size_t i = 0; i < diff->result_count; i++) {
        fputc('\n', stdout);
        table_print_csv(stdout, &diff->results[i], diff->top);
    }
}
