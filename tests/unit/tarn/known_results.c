/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/unit/tarn/known_results.c - asks tarn about traces written by hand; see known_results.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tests/unit/scratch.h>
#include <tests/unit/tarn/known_results.h>
#include <tools/tarn/options.h>

struct trace known_trace;
uint64_t tick_ns;
char known_directory[64];

static bool append_metadata(const char *more)
{
    char path[100];
    FILE *metadata;

    snprintf(path, sizeof(path), "%s/metadata", known_directory);
    metadata = fopen(path, "a");
    return metadata != NULL && (fputs(more, metadata) >= 0) & (fclose(metadata) == 0);
}

void open_known(const char *text, const char *more, const char *order)
{
    const struct synthetic_options options = {.order = order,
                                              .directory = known_directory,
                                              .freq = strcmp(order, "le") == 0 ? 1000000000 : 500000000};
    struct fail fail = {""};

    tick_ns = 1000000000 / options.freq;
    if (!trace_text_write(&options, text, &fail) || !append_metadata(more) ||
        !trace_open(&known_trace, known_directory, &fail))
        bail_out(fail.text);
}

static bool set_option(struct analysis *analysis, struct filter *filter, const char *name, const char *value,
                       struct fail *fail)
{
    const struct command_option *option = option_find(filter_options, name);

    if (strcmp(name, "subtract-cost") == 0)
        return filter->subtract_cost = true;
    return option != NULL ? option_set(option, filter, value, fail)
                          : analysis_set(analysis, name, value, fail);
}

struct analysis *ask(const char *kind, const char *const *options, struct fail *fail)
{
    struct analysis *analysis = analysis_new(analysis_find(kind));
    struct filter filter = {0};
    bool ok = true;

    for (; ok && *options != NULL; options += 2)
        ok = set_option(analysis, &filter, options[0], options[1], fail);
    ok = ok && analysis_choose_tables(analysis, "all", fail) && filter_resolve(&filter, &known_trace, fail) &&
         analyses_ask(&analysis, 1, &known_trace, &filter, NULL, NULL, fail);
    if (!ok) {
        analysis_free(analysis);
        analysis = NULL;
    }
    filter_free(&filter);
    return analysis;
}

const struct table *find_table(const struct analysis *analysis, const char *key)
{
    for (unsigned i = 0; i < analysis->kind->table_count; i++)
        if (strcmp(analysis->tables[i].key, key) == 0)
            return &analysis->tables[i];
    return NULL;
}

int test_both_orders(void (*test)(const char *order))
{
    make_scratch();
    snprintf(known_directory, sizeof(known_directory), "%s/le", scratch);
    test("le");
    snprintf(known_directory, sizeof(known_directory), "%s/be", scratch);
    test("be");
    return finish_tests();
}
