/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replies_test.c - `tarn tables`, `routines` and others on a link whose other end lies: replies to TABLES,
 * METADATA, PREVIOUS, LOCK_CLASSES, ROUTINES, ROUTINE_NAMES and COUNTERS that are cut short, too long, of
 * another request, or with counts that overflow. Each is refused with a message that says what is wrong.
 *
 * A thread is the guest. It replies as a guest would, but for one request, of which a case says what happens
 * to the reply. Built with sanitizers; prints TAP.
 */
#include "fake_hello.h"
#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <tests/tap.h>
#include <tests/unit/tarn/peer.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/source/source.h>
#include <trace/events.h>
#include <trace/format/layout.h>
#include <trace/format/metadata.h>
#include <trace/format/routine.h>
#include <unistd.h>

#define CPUS        2u
#define REPLY_BYTES (WIRE_REPLY_BYTES + WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES_MAX + 4096u)
#define AS_IT_IS    SIZE_MAX
#define MUTATIONS   400

static const uint8_t uuid[16] = TRACE_SCHEMA_UUID_BYTES;
static bool big_endian;

/* What happens to the reply to one operation. */
static struct lie {
    uint32_t operation;
    size_t size;    /* of its data; AS_IT_IS */
    int32_t status; /* if not 0 */
    bool wrong_tag;
    size_t at;      /* where `words` are stored, in the guest's byte order if `bytes` is 8 or 4 */
    unsigned bytes; /* of each; 0: none */
    uint64_t value;
    unsigned skip;    /* this many of the operation's replies come first as they are */
    unsigned garbage; /* random bytes that are stored; 0: none */
} lie;
static unsigned seed = 1;

/* ---- replies ---------------------------------------------------------------------------------------- */

static void put_guest(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[big_endian ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static size_t put_metadata(uint8_t *to)
{
    static const struct trace_metadata_values values = {.byte_order = "le",
                                                        .hostname = "test",
                                                        .architecture = "test",
                                                        .cpu_count = CPUS,
                                                        .clock_hz = 1000000000};
    return trace_metadata_expand((char *)to, TRACE_TABLES_BYTES_MAX, trace_metadata_template,
                                 trace_metadata_template_size, &values);
}

/* One lock, which was waited for once. */
static size_t put_tables(uint8_t *to)
{
    const struct trace_table_info *locks = &trace_table_list[TRACE_TABLE_LOCKS];
    const uint64_t keys[] = {0x1000, 3, 7}, tag = trace_table_tag(keys, 3);
    uint8_t *row = to + WIRE_TABLES_CLOCK_BYTES + locks->offset +
                   8 * (TRACE_TABLE_HEAD_WORDS + tag % locks->rows * locks->row_words);

    memset(to, 0, WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES);
    wire_put64(to, 12345);
    put_guest(row, 1, 8);
    put_guest(row + 8, tag, 8);
    for (unsigned k = 0; k < 3; k++)
        put_guest(row + 16 + 8 * k, keys[k], 8);
    put_guest(row + 8 * (locks->row_words - 1), 1, 8);
    return WIRE_TABLES_CLOCK_BYTES + TRACE_TABLES_BYTES;
}

static size_t put_table(uint8_t *to, uint64_t after)
{
    const struct trace_routines table = {0};
    const size_t size = sizeof(table) + sizeof(struct trace_routine_row);

    if (after >= 2)
        return 0;
    memset(to, 0, size);
    put_guest(to, after + 1, 8);
    memcpy(to + offsetof(struct trace_routines, name), "shell", 6);
    put_guest(to + offsetof(struct trace_routines, rows), 1, 4);
    put_guest(to + offsetof(struct trace_routines, row_bytes), sizeof(struct trace_routine_row), 4);
    put_guest(to + offsetof(struct trace_routines, life), 1000, 8);
    return size;
}

static size_t put_names(uint8_t *to, uint64_t from)
{
    if (from > TRACE_CONTEXT_NAMED)
        return 0;
    memset(to, 0, sizeof(struct trace_routine));
    put_guest(to, from, 4);
    memcpy(to + offsetof(struct trace_routine, name), "draw", 5);
    return sizeof(struct trace_routine);
}

static size_t put_lock_class(uint8_t *to)
{
    memset(to, 0, 8 + WIRE_LOCK_CLASS_BYTES);
    wire_put32(to, 1);
    memcpy(to + 8 + 16, "user mutex", 11);
    return 8 + WIRE_LOCK_CLASS_BYTES;
}

static size_t put_counter(uint8_t *to)
{
    memset(to, 0, 8 + WIRE_COUNTER_BYTES);
    wire_put32(to, 1);
    memcpy(to + 8 + 16, "cycles", 7);
    return 8 + WIRE_COUNTER_BYTES;
}

static size_t put_previous(uint8_t *to)
{
    const struct wire_previous previous = {.hello = fake_hello("liar", big_endian, CPUS, 16384, uuid)};

    wire_put_previous(to, &previous);
    return WIRE_PREVIOUS_BYTES;
}

static size_t put_data(uint8_t *to, uint32_t operation, uint64_t a, uint64_t b)
{
    switch (operation) {
    case WIRE_OP_METADATA:
    case WIRE_OP_PREVIOUS_METADATA:
        return put_metadata(to);
    case WIRE_OP_TABLES:
        return put_tables(to);
    case WIRE_OP_PREVIOUS_TABLES:
        put_tables(to);
        return WIRE_TABLES_CLOCK_BYTES + b;
    case WIRE_OP_PREVIOUS:
        return put_previous(to);
    case WIRE_OP_ROUTINES:
        return put_table(to, a);
    case WIRE_OP_ROUTINE_NAMES:
        return put_names(to, a);
    case WIRE_OP_LOCK_CLASSES:
        return put_lock_class(to);
    case WIRE_OP_COUNTERS:
        return put_counter(to);
    default:
        return 0;
    }
}

static void tell_lie(uint8_t *payload, size_t *size)
{
    uint8_t *data = payload + WIRE_REPLY_BYTES;

    if (lie.skip > 0) {
        lie.skip--;
        return;
    }
    if (lie.wrong_tag)
        wire_put32(payload, wire_get32(payload) + 1);
    wire_put32(payload + 4, (uint32_t)lie.status);
    if (lie.bytes)
        put_guest(data + lie.at, lie.value, lie.bytes);
    for (unsigned i = 0; i<lie.garbage && * size> 0; i++)
        data[(size_t)rand_r(&seed) % *size] = (uint8_t)rand_r(&seed);
    if (lie.size != AS_IT_IS) {
        if (lie.size > *size)
            memset(data + *size, 0, lie.size - *size);
        *size = lie.size;
    }
}

/* ---- the guest -------------------------------------------------------------------------------------- */

static bool send_frame(int fd, uint16_t type, uint32_t sequence, const uint8_t *payload, size_t size)
{
    uint8_t head[WIRE_FRAME_BYTES];

    wire_put_frame(head, type, (uint32_t)size, sequence, wire_hash(payload, size));
    return peer_put(fd, head, sizeof(head)) && peer_put(fd, payload, size);
}

static void serve(int fd)
{
    static uint8_t payload[REPLY_BYTES];
    uint8_t head[WIRE_FRAME_BYTES], request[WIRE_REQUEST_BYTES + WIRE_TEXT_MAX];
    struct wire_hello hello = fake_hello("liar", big_endian, CPUS, 16384, uuid);
    struct wire_frame frame;
    uint32_t sequence = 0;

    wire_put_hello(payload, &hello);
    if (!send_frame(fd, WIRE_HELLO, sequence++, payload, WIRE_HELLO_BYTES))
        return;
    while (peer_get(fd, head, sizeof(head)) && wire_get_frame(head, sizeof(request), &frame) == WIRE_OK &&
           peer_get(fd, request, frame.length)) {
        const uint32_t operation = wire_get32(request);
        if (frame.type != WIRE_REQUEST)
            continue;
        size_t size = put_data(payload + WIRE_REPLY_BYTES, operation, wire_get64(request + 8),
                               wire_get64(request + 16));
        wire_put32(payload, wire_get32(request + 4));
        wire_put32(payload + 4, 0);
        if (operation == lie.operation)
            tell_lie(payload, &size);
        if (!send_frame(fd, WIRE_REPLY, sequence++, payload, WIRE_REPLY_BYTES + size))
            return;
    }
}

/* ---- one case --------------------------------------------------------------------------------------- */

static struct peer guest = {.talk = serve};
static char says[1 << 16]; /* what the last command printed to standard error */

enum { TABLES, PREVIOUS, ROUTINES, COUNTERS, LIST, COMMANDS };

static int run_command(unsigned command)
{
    const char *const commands[COMMANDS][6] = {[TABLES] = {"tables", guest.source, "locks"},
                                               [PREVIOUS] = {"tables", "--previous", guest.source, "locks"},
                                               [ROUTINES] = {"routines", guest.source},
                                               [COUNTERS] = {"ctl", "--json", guest.source, "counters"},
                                               [LIST] = {"tables", guest.source}};
    return run_quietly(commands[command], says, sizeof(says));
}

#define HEAD(field) offsetof(struct trace_routines, field)

static const struct {
    unsigned command;
    struct lie lie;
    const char *says;
} cases[] = {
    /* tables */
    {TABLES, {WIRE_OP_TABLES, .size = 0}, "cut short: 0 bytes"},
    {TABLES, {WIRE_OP_TABLES, .size = 7}, "cut short: 7 bytes"},
    {TABLES, {WIRE_OP_TABLES, .size = 8}, "no tables of counters: they would take too much"},
    {TABLES, {WIRE_OP_TABLES, .size = 9}, "the tables of CPU 0 have 1 bytes instead of"},
    {TABLES, {WIRE_OP_TABLES, .size = 8 + TRACE_TABLES_BYTES / 2, .skip = 1}, "the tables of CPU 1 have"},
    {LIST, {WIRE_OP_TABLES, .size = 8 + TRACE_TABLES_BYTES / 2}, "the tables of CPU 0 have"},
    {TABLES, {WIRE_OP_TABLES, .size = 8 + TRACE_TABLES_BYTES_MAX + 8}, "the tables of CPU 0 have"},
    {TABLES, {WIRE_OP_TABLES, AS_IT_IS, .status = -E_BAD_ARGUMENT}, "the tables of counters: an argument"},
    {TABLES, {WIRE_OP_TABLES, AS_IT_IS, .status = INT32_MIN}, "the guest refused"},
    {TABLES, {WIRE_OP_TABLES, AS_IT_IS, .wrong_tag = true}, "unexpected frame"},
    {TABLES, {WIRE_OP_METADATA, .size = 0}, "not CTF 1.8"},
    {TABLES, {WIRE_OP_METADATA, .size = 5}, "not CTF 1.8"},
    {TABLES, {WIRE_OP_METADATA, .size = 5000}, "its version of Tarn is older"},
    {TABLES, {WIRE_OP_METADATA, .size = TRACE_METADATA_TEMPLATE_BYTES - 700}, "cut short"},
    {PREVIOUS, {WIRE_OP_PREVIOUS_METADATA, .size = TRACE_METADATA_TEMPLATE_BYTES - 700}, "cut short"},
    {TABLES, {WIRE_OP_METADATA, AS_IT_IS, .status = -E_BAD_ARGUMENT}, "its version of Tarn is older"},
    {PREVIOUS, {WIRE_OP_PREVIOUS, .size = 0}, "the guest's reply has 0 bytes"},
    {PREVIOUS, {WIRE_OP_PREVIOUS, .size = WIRE_PREVIOUS_BYTES - 1}, "bytes instead of"},
    {PREVIOUS, {WIRE_OP_PREVIOUS, AS_IT_IS, .status = -E_NOT_FOUND}, "no previous trace: it does not exist"},
    {PREVIOUS,
     {WIRE_OP_PREVIOUS_METADATA, AS_IT_IS, .status = -E_BAD_ARGUMENT},
     "read them from guest memory"},
    {PREVIOUS, {WIRE_OP_PREVIOUS_METADATA, .size = 100}, "UUID"},
    {PREVIOUS, {WIRE_OP_PREVIOUS_TABLES, .size = 100}, "the tables of CPU 0 have 92 bytes"},
    {PREVIOUS, {WIRE_OP_PREVIOUS_TABLES, AS_IT_IS, .status = -E_NOT_FOUND, .skip = 1}, "it does not exist"},
    /* tables */
    {ROUTINES, {WIRE_OP_ROUTINES, .size = 1}, "a table of 1 bytes"},
    {ROUTINES, {WIRE_OP_ROUTINES, .size = sizeof(struct trace_routines) - 1}, "less than its head"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, .size = sizeof(struct trace_routines)},
     "a damaged table: number 1, 1 rows"},
    {ROUTINES, {WIRE_OP_ROUTINES, .size = TRACE_ROUTINES_BYTES_MAX + 1}, "more than the largest"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, .size = sizeof(struct trace_routines) + 2 * TRACE_ROUTINE_ROW_BYTES},
     "a damaged table"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, .size = sizeof(struct trace_routines) + TRACE_ROUTINE_ROW_BYTES - 8, .skip = 1},
     "a damaged table: number 2"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, AS_IT_IS, .at = HEAD(rows), .bytes = 4, .value = UINT32_MAX},
     "4294967295 rows"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, AS_IT_IS, .at = HEAD(rows), .bytes = 4, .value = 0xcccccce},
     "a damaged table"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, AS_IT_IS, .at = HEAD(row_bytes), .bytes = 4, .value = 0},
     "rows of tables have 0 bytes"},
    {ROUTINES, {WIRE_OP_ROUTINES, AS_IT_IS, .at = HEAD(of), .bytes = 4, .value = 4}, "a damaged table"},
    {ROUTINES,
     {WIRE_OP_ROUTINES, AS_IT_IS, .at = HEAD(serial), .bytes = 8, .value = 1, .skip = 1},
     "a damaged table: number 1"},
    {ROUTINES, {WIRE_OP_ROUTINES, AS_IT_IS, .status = -E_BAD_ARGUMENT}, "this system counts no routines"},
    {ROUTINES, {WIRE_OP_ROUTINES, AS_IT_IS, .wrong_tag = true}, "unexpected frame"},
    {ROUTINES, {WIRE_OP_ROUTINE_NAMES, .size = 100}, "names of routines"},
    {ROUTINES, {WIRE_OP_ROUTINE_NAMES, .size = sizeof(struct trace_routine) + 1}, "names of routines"},
    {ROUTINES,
     {WIRE_OP_ROUTINE_NAMES, .size = 2 * sizeof(struct trace_routine)},
     "damaged names of routines: number 0 in place of 1537"},
    {ROUTINES,
     {WIRE_OP_ROUTINE_NAMES, AS_IT_IS, .bytes = 4, .value = UINT32_MAX},
     "damaged names of routines: number 4294967295"},
    {ROUTINES,
     {WIRE_OP_ROUTINE_NAMES, AS_IT_IS, .status = -E_NO_MEMORY},
     "names of routines: not enough memory"},
    /* their siblings */
    {COUNTERS, {WIRE_OP_COUNTERS, .size = 0}, "list of counters is invalid"},
    {COUNTERS, {WIRE_OP_COUNTERS, .size = 8 + WIRE_COUNTER_BYTES - 1}, "list of counters is invalid"},
};

static void test_cases(const char *order)
{
    unsigned right = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lie = cases[i].lie;
        const int status = run_command(cases[i].command);
        const bool is_right = status == EXIT_USAGE && strstr(says, cases[i].says) != NULL;
        right += is_right;
        if (!is_right)
            printf("# case %zu: expected '%s', status %d: %s\n", i, cases[i].says, status, says);
    }
    check(right == sizeof(cases) / sizeof(cases[0]),
          "%s: each reply that is wrong is refused, with the reason", order);
}

/* Lists that only give names are not needed. */
static void test_names(const char *order)
{
    static const struct lie lies[] = {
        {.operation = WIRE_OP_LOCK_CLASSES, .size = 3},
        {.operation = WIRE_OP_LOCK_CLASSES, .size = AS_IT_IS, .bytes = 4, .value = UINT32_MAX},
        {.operation = WIRE_OP_LOCK_CLASSES, .size = AS_IT_IS, .bytes = 4, .value = 0x05555556},
        {.operation = WIRE_OP_LOCK_CLASSES, .size = AS_IT_IS, .status = INT32_MIN},
        {.operation = WIRE_OP_ROUTINE_NAMES, .size = AS_IT_IS, .status = -E_BAD_ARGUMENT},
        {.size = AS_IT_IS}};
    unsigned right = 0;

    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        lie = lies[i];
        right += run_command(TABLES) == EXIT_OK && run_command(ROUTINES) == EXIT_OK &&
                 run_command(PREVIOUS) == EXIT_OK && run_command(LIST) == EXIT_OK &&
                 run_command(COUNTERS) == EXIT_OK;
    }
    check(right == sizeof(lies) / sizeof(lies[0]),
          "%s: without names of classes or routines, numbers have to do", order);
}

static void test_mutations(const char *order)
{
    static const uint32_t operations[] = {
        WIRE_OP_TABLES,         WIRE_OP_METADATA,      WIRE_OP_PREVIOUS, WIRE_OP_PREVIOUS_METADATA,
        WIRE_OP_ROUTINES,       WIRE_OP_ROUTINE_NAMES, WIRE_OP_COUNTERS, WIRE_OP_LOCK_CLASSES,
        WIRE_OP_PREVIOUS_TABLES};
    static const unsigned commands[] = {TABLES,   TABLES,   PREVIOUS, PREVIOUS, ROUTINES,
                                        ROUTINES, COUNTERS, TABLES,   PREVIOUS};
    unsigned ended = 0;

    for (unsigned i = 0; i < MUTATIONS; i++) {
        const unsigned which = i % 9;
        lie = (struct lie){.operation = operations[which],
                           .size = i % 5 ? AS_IT_IS : (size_t)rand_r(&seed) % 10000,
                           .skip = (unsigned)rand_r(&seed) % 2,
                           .garbage = 1u << rand_r(&seed) % (which ? 6 : 17)};
        const int status = run_command(commands[which]);
        ended += status == EXIT_OK || status == EXIT_DAMAGE || status == EXIT_USAGE;
    }
    check(ended == MUTATIONS, "%s: no garbage in a reply leads anywhere", order);
}

int main(void)
{
    __sanitizer_set_report_fd((void *)(intptr_t)dup(2)); /* stderr is what the host tool says */
    peer_start(&guest, "tcp", NULL);
    for (unsigned i = 0; i < 2; i++) {
        big_endian = i == 1;
        const char *order = big_endian ? "big-endian" : "little-endian";
        test_names(order);
        test_cases(order);
        test_mutations(order);
    }
    peer_stop(&guest);
    return finish_tests();
}
