/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/test/schema_check_test.c - tests that the kernel accepts what evgen --app writes, and nothing that
 * would damage the metadata: babeltrace2 still reads the trace with every mutated text that is accepted. */
#define TRACE_DEFINE_SAMPLE
#include "ring_harness.h"
#include <app/sample.h>
#include <stdlib.h>
#include <string.h>
#include <trace/control/schema_check.h>
#include <trace/format/metadata.h>
#include <unistd.h>

static const uint32_t app_class = 50;

/* Adds the schema to a trace's metadata, as the kernel does. */
static void append_schema(const char *directory, const char *text, uint64_t size)
{
    static char expanded[4 * TRACE_SCHEMA_TEXT_MAX];
    char path[256];
    struct trace_metadata_values values = {.class_number = app_class};
    uint64_t length = trace_metadata_expand(expanded, sizeof(expanded), text, size, &values);
    snprintf(path, sizeof(path), "%s/metadata", directory);
    FILE *file = fopen(path, "a");
    fwrite(expanded, length, 1, file);
    fclose(file);
}

static void log_samples(void)
{
    uint64_t words[3] = {1, 2, 0xffffffffffffffff};
    trace_sample_numbers(255, -128, 0xbeef, -5, 1, 0xffffffffffffffff);
    trace_sample_named("fifteen letters", TRACE_SAMPLE_BLUE, "text");
    trace_sample_list(3, words);
    trace_sample_list(0, words);
}

static bool text_holds(const char *path, const char *part)
{
    static char text[65536];
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = 0;
    return strstr(text, part);
}

static void test_registered(const char *directory, const char *output)
{
    char name[16];
    uint64_t body = 0;
    const struct trace_schema *schema = &trace_schema_sample;
    setup_rings(TRACE_BUFFER_BYTES_MIN, 4, TRACE_MODE_FLIGHT);
    log_samples();
    struct findings before = read_all(NULL, NULL, NULL);
    check(before.events == 0, "an unregistered class logs nothing");
    check(trace_check_schema(schema->text, schema->size, name, &body) && !strcmp(name, "sample"),
          "the generator's text is accepted");
    trace_class_sample = app_class;
    log_samples();
    struct findings f = read_all(NULL, NULL, directory);
    append_schema(directory, schema->text + body, schema->size - body);
    check(f.events == 4 && count_by_babeltrace2(directory, output) == 4, "babeltrace2 reads its events");
    check(text_holds(output, "sample_numbers: ") &&
              text_holds(output, "a = 255, b = -128, c = 0xBEEF, d = -5, e = 1") &&
              text_holds(output, "who = \"fifteen letters\", color = ( \"blue\" : container = 200 )") &&
              text_holds(output, "text = \"text\"") && text_holds(output, "[2] = 0xFFFFFFFFFFFFFFFF"),
          "with every value as logged");
}

/* Changes the text randomly; babeltrace2 reads a limited number of the accepted ones. */
static void test_mutations(const char *directory, const char *output)
{
    static const char alphabet[] = "abz_019 {}[]();:=\"@,\n\t/*%\\\x01\xff";
    static char text[TRACE_SCHEMA_TEXT_MAX];
    const struct trace_schema *schema = &trace_schema_sample;
    unsigned accepted = 0, judged = 0, bad = 0;
    for (unsigned i = 0; i < 60000; i++) {
        char name[16];
        uint64_t body, size = schema->size;
        memcpy(text, schema->text, size);
        for (int n = 1 + rand() % 2; n; n--) {
            uint64_t at = (uint64_t)rand() % size;
            if (rand() % 2) {
                text[at] = alphabet[(unsigned)rand() % (sizeof(alphabet) - 1)];
            } else { /* drop a run */
                uint64_t run = 1 + (uint64_t)rand() % 40;
                run = run < size - at ? run : size - at;
                memmove(text + at, text + at + run, size - at - run);
                size -= run;
            }
        }
        char *exact = malloc(size); /* exact size, so that the sanitizer detects reads past the end */
        memcpy(exact, text, size);
        bool good = trace_check_schema(exact, size, name, &body);
        free(exact);
        if (!good)
            continue;
        if (accepted++ % 40 || judged == 25)
            continue;
        judged++;
        read_all(NULL, NULL, directory);
        append_schema(directory, text + body, size - body);
        char command[512];
        /* its events may not fit the changed layout: check the metadata alone */
        snprintf(command, sizeof(command), "babeltrace2 -o ctf-metadata %s > %s 2>&1", directory, output);
        bad += system(command) != 0;
        snprintf(command, sizeof(command), "rm -f %s/cpu*; babeltrace2 %s > %s 2>&1", directory, directory,
                 output);
        bad += system(command) != 0;
    }
    check(judged > 0 && !bad, "mutated texts: %u of 60000 accepted, %u judged by babeltrace2, %u bad",
          accepted, judged, bad);
}

int main(void)
{
    char directory[] = "/tmp/schema_test.XXXXXX", output[64], command[256];
    if (!mkdtemp(directory))
        return 2;
    snprintf(output, sizeof(output), "%s.text", directory);
    srand(1);
    test_registered(directory, output);
    test_mutations(directory, output);
    snprintf(command, sizeof(command), "rm -rf %s %s %s.err", directory, output, output);
    return system(command) ? 2 : finish_tests();
}
