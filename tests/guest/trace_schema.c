/*
 * trace_schema.c - schemas of applications: each gets a
 * class number and is in the metadata, or is refused.
 */
#define TRACE_DEFINE_SAMPLE
#include <app/sample.h>
#include <tests/guest/descriptor.h>
#include <tests/guest/run.h>
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

/* Runs this program as another process, with a number. Returns its exit status. */
static int run_self(const char *role, unsigned number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    return WEXITSTATUS(run_program("/test/trace_schema", role, digits));
}

static void test_registration(void)
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
    check(run_self("other", number) == 0, "another process with the same schema shares it");
    check(count_sample_events() == 2, "its events have the same class");
}

static int64_t register_class(const char *name, uint8_t hash)
{
    const struct small_descriptor descriptor = make_descriptor(name);
    const uint8_t uuid[16] = {0x99, hash};
    return sys_trace_register(&descriptor, sizeof descriptor, uuid);
}

/* Others: tests/unit/trace/descriptor_test.c. */
static void test_bad_descriptors(void)
{
    static const char large[TRACE_DESCRIPTOR_BYTES_MAX + 1];
    const uint8_t uuid[16] = {0};
    struct small_descriptor bad = make_descriptor("x");
    memcpy(bad.field_name, "a;}", 4);
    read_metadata();
    size_t before = strlen(metadata);
    check(sys_trace_register(&bad, sizeof bad, uuid) == -E_BAD_ARGUMENT,
          "a descriptor other than evgen's is refused");
    check(register_class("sched", 1) == -E_BAD_ARGUMENT, "and the names of the system's classes");
    check(sys_trace_register(large, sizeof large, uuid) == -E_TOO_LARGE,
          "and descriptors that are too large");
    check(all_return(-E_BAD_ADDRESS, sys_trace_register((const char *)8, 100, uuid),
                     sys_trace_register("x", 1, (const uint8_t *)~0ull),
                     sys_trace_register((const char *)0xffffffff80000000ull, 100, uuid)) &&
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
    check(result == -E_NO_SLOT && registered == TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST - 2,
          "after 16 classes of applications the next is refused");
    check(register_class("many0", 0) >= TRACE_CLASS_APP_FIRST, "existing ones stay registered");
    read_metadata();
    check(metadata_has("many13_e", TRACE_CLASS_COUNT - 1, 1), "and are in the metadata");
}

/* ---- programs that end ----------------------------------------------------------------------------- */

#define PROGRAMS 100u

/* In another process, which ends, with another schema. Returns whether it had a place, 1: none. */
static int be_gone(unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "gone%u", number);
    int64_t result = register_class(name, (uint8_t)(100 + number));
    return result == -E_NO_SLOT ? 1 : result >= TRACE_CLASS_APP_FIRST ? 0 : 2;
}

/* Clears the rings, and with them the classes of programs that have ended. */
static void test_switches_of_gone(void)
{
    const struct trace_info *info = arch_trace_info();
    unsigned on = 0;
    for (uint32_t class = trace_class_sample + 1; class < TRACE_CLASS_COUNT; class ++)
        control(TRACE_OP_SET_SWITCHES, class, 0);
    control(TRACE_OP_CLEAR, 0, 0);
    for (uint32_t class = trace_class_sample + 1; class < TRACE_CLASS_COUNT; class ++) {
        on += info->switches[class] == ~0ull;
        control(TRACE_OP_SET_SWITCHES, class, ~0ull);
    }
    check(on == PROGRAMS % (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST - 1),
          "the next class of a number begins with all its events: %u", on);
}

static void test_ended(void)
{
    unsigned registered = 0, full = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        int told = run_self("gone", i);
        if (told == 1) {
            full++;
            control(TRACE_OP_CLEAR, 0, 0);
            told = run_self("gone", i);
        }
        registered += told == 0;
    }
    check(registered == PROGRAMS, "100 programs with schemas of their own, one after the other");
    check(full == (PROGRAMS - 1) / (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST - 1),
          "classes of ended programs become free only when the rings are cleared");
    test_switches_of_gone();
    read_metadata();
    check(!strstr(metadata, "gone"), "then they are not in the metadata");
    check(metadata_has("sample_numbers", trace_class_sample, 1) &&
              metadata_has("sample_list", trace_class_sample, 63),
          "schemas of running programs are");
    log_sample();
    check(count_sample_events() == 1, "and these programs can still log");
}

enum { WIDE_EVENTS = 64 };

/* Registers a class with 64 events, of which the first `limited` can be sampled. Returns its number. */
static int64_t register_wide(uint8_t number, uint32_t limited)
{
    static struct {
        struct trace_descriptor head;
        struct trace_event_record event[WIDE_EVENTS];
        char class_name[16], event_name[WIDE_EVENTS][16];
    } wide;
    const uint8_t uuid[16] = {0x77, number};
    wide.head =
        (struct trace_descriptor){TRACE_DESCRIPTOR_MAGIC, sizeof wide, offsetof(typeof(wide), class_name),
                                  offsetof(typeof(wide), class_name), WIDE_EVENTS};
    snprintf(wide.class_name, sizeof wide.class_name, "wide%u", number);
    for (uint32_t i = 0; i < WIDE_EVENTS; i++) {
        wide.event[i].minor = i;
        wide.event[i].limit = i < limited ? TRACE_LIMIT_SAMPLED : TRACE_LIMIT_NONE;
        wide.event[i].name = (uint32_t)(wide.event_name[i] - (char *)&wide);
        snprintf(wide.event_name[i], sizeof wide.event_name[i], "wide%u_e%u", number, (unsigned)i);
    }
    return sys_trace_register(&wide, sizeof wide, uuid);
}

static void test_limits(void)
{
    const struct trace_info *info = arch_trace_info();
    const uint32_t first = trace_app_limit_index(trace_class_sample, 0);
    const uint64_t numbers = TRACE_ID(trace_class_sample, 1), named = TRACE_ID(trace_class_sample, 2),
                   list = TRACE_ID(trace_class_sample, 63);
    check(control(TRACE_OP_SAMPLE_EVENTS, numbers, 3) == 0 && control(TRACE_OP_SET_THRESHOLD, list, 7) == 0 &&
              info->app_limit[first] == 3 && info->app_limit[first + 1] == 7,
          "events of an application are limited");
    check(all_return(-E_NOT_FOUND, control(TRACE_OP_SAMPLE_EVENTS, named, 3),
                     control(TRACE_OP_SAMPLE_EVENTS, list, 3), control(TRACE_OP_SET_THRESHOLD, numbers, 3),
                     control(TRACE_OP_SAMPLE_EVENTS, 1ull << 32 | numbers, 3),
                     control(TRACE_OP_SAMPLE_EVENTS, TRACE_ID(TRACE_CLASS_COUNT - 1, 1), 3)),
          "as they are declared");
    control(TRACE_OP_SAMPLE_EVENTS, numbers, 1);
    control(TRACE_OP_SET_THRESHOLD, list, 0);
    check(register_wide(50, TRACE_APP_LIMITED_MAX + 1) == -E_BAD_ARGUMENT, "17 of a class are too many");
    const int64_t wide = register_wide(51, TRACE_APP_LIMITED_MAX);
    const uint32_t last = trace_app_limit_index((uint32_t)wide, TRACE_APP_LIMITED_MAX - 1);
    check(wide > 0 && control(TRACE_OP_SAMPLE_EVENTS, TRACE_ID((uint32_t)wide, 15), 9) == 0 &&
              info->app_limit[last] == 9 && info->app_limit[last + 1] == 0,
          "16 are not");
}

int main(int argc, char **argv)
{
    if (argc == 3) { /* another process */
        const unsigned number = (unsigned)atoi(argv[2]);
        if (!strcmp(argv[1], "gone"))
            return be_gone(number);
        const int status = trace_register_schema(&trace_schema_sample);
        log_sample();
        return status || trace_class_sample != number;
    }
    control(TRACE_OP_SET_MASK, ~0ull << TRACE_CLASS_APP_FIRST, 0);
    test_registration();
    test_bad_descriptors();
    test_ended();
    test_limits();
    test_limit();
    return finish_tests();
}
