/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_schema.c - schemas of applications: each gets a
 * class number and is in the metadata, or is refused.
 */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACE_DEFINE_SAMPLE
#include <app/sample.h>
#include <tests/guest/descriptor.h>
#include <tests/guest/trace_help.h>
#include <trace/format/store.h>

static char metadata[(512 << 10) + 1];

static void read_metadata(void)
{
    int64_t size = 0, got;
    while ((got = sys_trace_metadata(SLOT_TRACE, TRACE_METADATA_TEXT, (uint64_t)size, metadata + size,
                                     4096)) > 0)
        size += got;
    metadata[size] = 0;
}

/* In the metadata `id = CLASS << 16 | MINOR;` follows the event's name. */
static bool metadata_has(const char *event, uint32_t class_number, uint32_t minor)
{
    char text[128];
    snprintf(text, sizeof text, "name = \"%s\";\n    id = %u;\n", event,
             (unsigned)TRACE_ID(class_number, minor));
    return strstr(metadata, text);
}

static void note_event(void *context, uint32_t cpu, const struct trace_header *event, uint64_t time)
{
    const uint8_t *body = (const uint8_t *)(event + 1);
    *(unsigned *)context += event->id == TRACE_ID(trace_class_sample, 1) && event->length == 4 &&
                            body[0] == 200 && *(const uint64_t *)(body + 8) == 1234567890123ull;
}

static unsigned count_sample_events(void)
{
    struct ring_findings findings;
    unsigned count = 0;
    visit_rings(note_event, &count, &findings);
    return count;
}

static void log_sample(void)
{
    trace_sample_numbers(200, -1, 0xabcd, -5, 1234567890123ull, 7);
}

static void test_registration(const char *self)
{
    log_sample();
    check(trace_class_sample == TRACE_CLASS_COUNT, "not registered: nothing is logged");
    check(trace_register_schema(&trace_schema_sample) == 0 && trace_class_sample >= TRACE_CLASS_APP_FIRST &&
              trace_class_sample < TRACE_CLASS_COUNT,
          "registered: a class of its own");
    log_sample();
    check(count_sample_events() == 1, "its events are logged");
    read_metadata();
    check(metadata_has("sample_numbers", trace_class_sample, 1) &&
              metadata_has("sample_list", trace_class_sample, 63),
          "the metadata describes them");
    uint32_t number = trace_class_sample;
    check(trace_register_schema(&trace_schema_sample) == 0 && trace_class_sample == number,
          "registered again: the same class");
    pid_t pid;
    int status = -1;
    char digits[16], *argv[] = {(char *)self, digits, NULL};
    snprintf(digits, sizeof digits, "%u", (unsigned)number);
    check(posix_spawn(&pid, self, NULL, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid &&
              status == 0,
          "another process with the same schema shares it");
    check(count_sample_events() == 2, "its events have the same class");
}

/* ---- refused --------------------------------------------------------------------------------------- */

static int64_t register_small(const struct small_descriptor *descriptor, uint8_t hash)
{
    uint8_t uuid[16] = {0x99, hash};
    return sys_trace_register(descriptor, sizeof *descriptor, uuid);
}

static int64_t register_class(const char *name, uint8_t hash)
{
    const struct small_descriptor descriptor = make_descriptor(name);
    return register_small(&descriptor, hash);
}

/* Each differs from a good one in one thing. */
static void test_bad_descriptors(void)
{
    enum { BAD = 9 };
    struct small_descriptor bad[BAD];
    unsigned refused = 0;
    for (unsigned i = 0; i < BAD; i++)
        bad[i] = make_descriptor("x");
    bad[0].head.magic++;
    bad[1].head.bytes--;
    bad[2].head.event_count = 2;
    bad[3].event.minor = 64;
    bad[4].event.name = bad[4].field.name;
    bad[5].event.name = sizeof bad[5];
    bad[6].field.kind = TRACE_FIELD_ARRAY; /* counted by itself */
    bad[7].field.bytes = 3;
    memcpy(bad[8].field_name, "a;}", 4);
    read_metadata();
    size_t before = strlen(metadata);
    for (unsigned i = 0; i < BAD; i++)
        refused += register_small(&bad[i], 1) == -E_BAD_ARGUMENT;
    check(refused == BAD, "descriptors other than evgen's are refused");
    check(register_class("sched", 1) == -E_BAD_ARGUMENT, "and the names of the system's classes");
    uint8_t uuid[16] = {0};
    char *large = calloc(1, TRACE_DESCRIPTOR_BYTES_MAX + 1);
    check(sys_trace_register(large, TRACE_DESCRIPTOR_BYTES_MAX + 1, uuid) == -E_TOO_LARGE,
          "and descriptors that are too large");
    free(large);
    check(sys_trace_register((const char *)8, 100, uuid) == -E_BAD_ADDRESS &&
              sys_trace_register("x", 1, (const uint8_t *)~0ull) == -E_BAD_ADDRESS &&
              sys_trace_register((const char *)0xffffffff80000000ull, 100, uuid) == -E_BAD_ADDRESS &&
              sys_trace_register("", 0, uuid) == -E_BAD_ARGUMENT,
          "and addresses that are not the caller's");
    read_metadata();
    check(strlen(metadata) == before, "the metadata stays as it was");
}

static void test_limit(void)
{
    char name[16];
    int64_t result = 0;
    uint32_t registered = 0;
    for (uint8_t i = 0; i < 20 && result >= 0; i++, registered += result >= 0) {
        snprintf(name, sizeof name, "many%u", i);
        result = register_class(name, i);
    }
    check(result == -E_NO_SLOT && registered == TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST - 1,
          "after 16 classes of applications the next is refused");
    check(register_class("many0", 0) >= TRACE_CLASS_APP_FIRST, "existing ones stay registered");
    read_metadata();
    check(metadata_has("many14_e", TRACE_CLASS_COUNT - 1, 1), "and are in the metadata");
}

/* ---- programs that end ----------------------------------------------------------------------------- */

#define PROGRAMS 100u

/* Registers another schema in another process, which ends. Returns that registration's result. */
static int register_elsewhere(const char *self, unsigned number)
{
    pid_t pid;
    int status = -1;
    char digits[16], *argv[] = {(char *)self, "gone", digits, NULL};
    snprintf(digits, sizeof digits, "%u", number);
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
        return -1;
    return WEXITSTATUS(status);
}

static int be_gone(const char *digits)
{
    char name[16];
    snprintf(name, sizeof name, "gone%s", digits);
    int64_t result = register_class(name, (uint8_t)(100 + atoi(digits)));
    return result == -E_NO_SLOT ? 1 : result >= TRACE_CLASS_APP_FIRST ? 0 : 2;
}

static void test_ended(const char *self)
{
    unsigned registered = 0, full = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        int told = register_elsewhere(self, i);
        if (told == 1) {
            full++;
            control(TRACE_OP_CLEAR, 0, 0);
            told = register_elsewhere(self, i);
        }
        registered += told == 0;
    }
    check(registered == PROGRAMS, "100 programs with schemas of their own, one after the other");
    check(full == (PROGRAMS - 1) / (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST - 1),
          "classes of ended programs become free only when the rings are cleared");
    control(TRACE_OP_CLEAR, 0, 0);
    read_metadata();
    check(!strstr(metadata, "gone"), "then they are not in the metadata");
    check(metadata_has("sample_numbers", trace_class_sample, 1) &&
              metadata_has("sample_list", trace_class_sample, 63),
          "schemas of running programs are");
    log_sample();
    check(count_sample_events() == 1, "and these programs can still log");
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return be_gone(argv[2]);
    if (argc == 2) { /* the other process */
        int status = trace_register_schema(&trace_schema_sample);
        log_sample();
        return status || trace_class_sample != (uint32_t)atoi(argv[1]);
    }
    control(TRACE_OP_SET_MASK, ~0ull << TRACE_CLASS_APP_FIRST, 0);
    test_registration(argv[0]);
    test_bad_descriptors();
    test_ended(argv[0]);
    test_limit();
    return finish_tests();
}
