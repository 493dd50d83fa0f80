/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_command.c - the `trace` command as a user sees it: what it prints, what it changes. Which words it
 * knows: tests/unit/trace/event_test.c.
 */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/guest/trace_help.h>
#include <trace/events.h>
#include <trace/tables.h>

#define WORDS_MAX 8
#define OUTPUT    "/tmp/trace_command.out"

static char output[65536]; /* output of the last command, including errors */

/* Runs a command line, split at spaces. Returns its exit status. */
static int run(const char *line)
{
    char words[128], *rest = words, *argv[WORDS_MAX + 1] = {NULL}, path[64];
    int count = 0, status = -1;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    snprintf(words, sizeof words, "%s", line);
    while (count < WORDS_MAX && (argv[count] = strsep(&rest, " ")))
        count++;
    snprintf(path, sizeof path, "/bin/%s", argv[0]);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (posix_spawn(&pid, path, &actions, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
        return -1;
    posix_spawn_file_actions_destroy(&actions);
    int fd = open(OUTPUT, O_RDONLY);
    ssize_t size = 0, got;
    while (fd >= 0 && (got = read(fd, output + size, sizeof output - 1 - (size_t)size)) > 0)
        size += got;
    close(fd);
    output[size] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *text)
{
    if (strstr(output, text))
        return true;
    printf("# '%s' is not in:\n# %.300s\n", text, output);
    return false;
}

static bool fails_with(const char *line, int status, const char *text)
{
    return run(line) == status && says(text);
}

/* A command and what comes of it. */
struct step {
    const char *line;
    int status;
    const char *says, *silent; /* its output has, or lacks this */
    bool sets;                 /* and this word of the info page is then that */
    uint32_t at;
    uint64_t value;
};
#define SETS(member, number) .sets = true, .at = offsetof(struct trace_info, member), .value = (number)

#define LOCK  (1ull << 10)
#define FRAME (1ull << 8)

static const struct step settings[] = {
    {.line = "trace mask all", SETS(mask, ~0ull)},
    {.line = "trace mask -lock,-frame", SETS(mask, ~(LOCK | FRAME))},
    {.line = "trace mask", .says = "not traced       frame lock"},
    {.line = "trace mask +lock", SETS(mask, ~FRAME)},
    {.line = "trace mask lock,frame", SETS(mask, LOCK | FRAME)},
    {.line = "trace mask 0x500", SETS(mask, 0x500)},
    {.line = "trace stop", SETS(mask, 0)},
    {.line = "trace start", SETS(mask, 0x500)},
    {.line = "trace mask none", SETS(mask, 0)},
    {.line = "trace switch sched.wakeup off", SETS(switches[1], ~4ull)},
    {.line = "trace status", .says = "switched off     sched.wakeup"},
    {.line = "trace switch sched on", SETS(switches[1], ~0ull)},
    {.line = "trace switch sched.*queue,ipc off", SETS(switches[1], ~0x18ull)},
    {.line = "trace switch",
     .says = "switched off     sched.enqueue sched.dequeue ipc.",
     SETS(switches[2], 0)},
    {.line = "trace switch * on", SETS(switches[1], ~0ull)},
    {.line = "trace switch", .says = "switched off     (none)", SETS(switches[2], ~0ull)},
    {.line = "trace sample", .says = "frame.alloc           all", .silent = "lock.contended"},
    {.line = "trace sample frame.*,libc.free 64", SETS(event_limit[TRACE_LIMITED_COUNT], 0)},
    {.line = "trace sample", .says = "frame.alloc           1 of 64"},
    {.line = "trace sample", .says = "libc.free             1 of 64", .silent = "libc.malloc           1"},
    {.line = "trace sample * 1"},
    {.line = "trace sample", .silent = "1 of"},
    {.line = "trace threshold", .says = "lock.contended        all", .silent = "frame.alloc"},
    {.line = "trace threshold lock.* 10us"},
    {.line = "trace threshold", .says = "lock.contended        wait from "},
    {.line = "trace threshold", .says = "lock.held             held from "},
    {.line = "trace threshold * 0"},
    {.line = "trace threshold", .silent = "from"},
    {.line = "trace buffers 8 32k", SETS(buffer_mask, 4095)},
    {.line = "trace buffers", .says = "8 of 32 KiB", SETS(buffer_count, 8)},
    {.line = "trace mode once"},
    {.line = "trace mode", .says = "once"},
    {.line = "trace mode flight"},
    {.line = "trace low-water 30"},
    {.line = "trace low-water", .says = "30"},
    {.line = "trace status", .says = "low-water mark   30 %\nbuffers          8 of 32 KiB"},
    {.line = "trace status", .says = "mode             flight"},
    {.line = "trace low-water 50"},
    {.line = "trace buffers boot", SETS(buffer_mask, 8191)},
    {.line = "trace bogus", .status = 2, .says = "no command 'bogus'"},
    {.line = "trace mark 1 x", .status = 1, .says = "class user is off"},
};

static void take_step(const struct step *step)
{
    const char *info = (const char *)arch_trace_info();
    const bool ends = run(step->line) == step->status, has = !step->says || says(step->says);
    uint64_t value = 0;
    memcpy(&value, info + step->at, sizeof value);
    check(ends && has && (!step->sets || value == step->value) &&
              !(step->silent && strstr(output, step->silent)),
          "%s", step->line);
}

/* Lines of control.cases: `COMMAND => ERROR`. They change nothing. */
static void test_refusals(const struct trace_info *info)
{
    static struct trace_info before;
    char line[256], command[300];
    FILE *cases = fopen("/test/control.cases", "r");
    memcpy(&before, info, sizeof before);
    for (unsigned count = 0; cases && fgets(line, sizeof line, cases); count++) {
        char *error = strstr(line, " => ");
        if (line[0] == '#' || !error)
            continue;
        *error = 0;
        error[strcspn(error + 1, "\n") + 1] = 0;
        snprintf(command, sizeof command, "trace %s", line);
        const int status = run(command);
        check((status == 1 || status == 2) && says(error + 4), "%s", command);
    }
    check(cases && info->mask == before.mask && info->low_water == before.low_water &&
              info->buffer_count == before.buffer_count &&
              !memcmp(info->switches, before.switches, sizeof before.switches),
          "what is refused changes nothing");
    if (cases)
        fclose(cases);
}

static void write_study(const char *text)
{
    int fd = open("/tmp/own.study", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a study of one's own");
    close(fd);
}

static void test_studies(const struct trace_info *info)
{
    const uint64_t booted = (run("trace buffers boot"), info->buffer_count);
    const uint64_t locking = 1 << 0 | 1 << 1 | 1 << 10 | 1 << 11 | 1 << 17 | 1 << 18;
    check(run("trace study") == 0 && says("locking      which locks are contended") && says("default"),
          "study lists the studies");
    check(run("trace study locking") == 0 && info->mask == locking && info->switches[1] == ~0x18ull,
          "study locking sets mask and switches");
    check(run("trace watch") == 0 && says("1 of 64"), "and the sampling of locks");
    check(run("trace threshold") == 0 && says("lock.contended        wait from ") &&
              says("lock.held             all"),
          "and a threshold for waits");
    check(info->buffer_count == 128 && trace_buffer_bytes(info) == 64 << 10, "and rings of a fitting size");
    write_study("# my own\nmask user # and nothing else\n\ntry counters nonsense\nsample frame.alloc 8\n"
                "analysis stats\n");
    check(run("trace study /tmp/own.study") == 0 && says("/tmp/own.study:4: not supported here; skipped") &&
              info->mask == 1ull << 17,
          "a study of one's own, of which the machine lacks a part");
    write_study("mask none\nclear\n");
    check(fails_with("trace study /tmp/own.study", 1, "/tmp/own.study:2: no setting 'clear'") &&
              info->mask == 1ull << 17,
          "a wrong line changes nothing");
    check(fails_with("trace study nothing", 1, "no study 'nothing'"), "an unknown study");
    check(run("trace study default") == 0 && info->mask == ~0ull && info->switches[1] == ~0ull &&
              run("trace sample") == 0 && !strstr(output, "1 of"),
          "study default sets everything back");
    check(run("trace threshold") == 0 && !strstr(output, "from"), "thresholds, too");
    check(info->buffer_count == booted && trace_buffer_bytes(info) == TRACE_BUFFER_BYTES_DEFAULT,
          "and the sizes of the rings");
}

static void test_events(void)
{
    run("trace mask user");
    check(run("trace mark 4711 here") == 0 && run("trace text there") == 0, "mark and text");
    check(run("trace last") == 0 && says("user_mark: mark 4711 here") && says("user_text: there"), "last");
    check(strstr(output, "user_mark") < strstr(output, "user_text"), "in order of time");
    check(run("trace last 1") == 0 && says("user_text: there") && !strstr(output, "user_mark"), "last 1");
    check(run("trace last sched") == 0 && !output[0], "last sched");
    check(run("trace stats") == 0 && says("user_mark                             1            3") &&
              says("user_text                             1            2"),
          "stats counts them");
    check(run("trace mask user,state") == 0 && run("trace statedump") == 0 && run("trace flush") == 0 &&
              run("trace last 1000 state") == 0 && says("state_process: pid 1 parent 0 init"),
          "statedump");
}

/* The metadata have space for 8; clearing drops all but the last. */
static void test_bench(void)
{
    int runs = 0;
    check(run("trace clear") == 0 && run("trace mask user") == 0, "clear");
    while (runs < 9 && run("trace bench") == 0 && says("sched_switch") && says("profile_setting"))
        runs++;
    check(runs == 8 && says("the metadata are full; `trace clear`"), "bench, until the metadata are full");
    check(run("trace stats") == 0 && !strstr(output, "sched_switch"), "dummy events are not in the trace");
    check(run("trace clear") == 0 && run("trace bench") == 0 && says("user_mark"),
          "after clear there is space");
}

static void test_app_bench(void)
{
    check(!strstr(output, "market_"), "an application's events are not measured before it runs");
    check(run("trace bench market 1 1") == 0 && says("market_trade") && says("market_order") &&
              says("user_mark"),
          "bench with a program measures its events, too");
    check(run("trace clear") == 0 && run("trace bench") == 0 && says("market_trade"),
          "and they stay when the class is gone");
    check(fails_with("trace bench true", 1, "true measured no events: it registers none"),
          "a program without events");
    check(fails_with("trace bench false", 1, "false failed"), "one that fails");
    check(fails_with("trace bench nothing", 1, "cannot run nothing"), "and one that does not exist");
    check(run("trace clear") == 0 && run("market 1 1") == 0 && run("trace bench") == 0 &&
              says("market_trade"),
          "a program that runs by itself is not delayed");
}

static void test_app_limits(void)
{
    check(run("trace clear") == 0 && run("trace sample") == 0 && !strstr(output, "market"),
          "a class that is not registered has no limits");
    check(run("market 1 1") == 0 && run("trace sample") == 0 && says("market.book           all"),
          "sample lists an application's events");
    check(run("trace sample market.* 4") == 0 && run("trace sample") == 0 &&
              says("market.book           1 of 4"),
          "which are sampled by patterns");
    check(fails_with("trace sample market.trade 4", 1, "names no event that can be sampled"),
          "if they are declared so");
    check(run("market 1 1") == 0 && run("trace sample") == 0 && says("market.book           1 of 4"),
          "the limit stays with the class");
    check(run("trace clear") == 0 && run("market 1 1") == 0 && run("trace sample") == 0 &&
              says("market.book           all"),
          "and ends with it");
}

static void test_tables(void)
{
    struct trace_lock_sites_row *row = trace_lock_sites_row(arch_trace_ring(), 0xabcd0123, 60, 1, 0);
    check(run("trace tables") == 0 && says("updates lost") && says("\nlocks "), "tables lists them");
    trace_row_begin(&row->begun);
    trace_row_add(&row->times, 2);
    trace_row_add(&row->ticks, arch_trace_info()->clock_hz * 20);
    trace_row_end(&row->ended);
    check(run("trace tables lock_sites") == 0 && says("lock_class") && says("0xabcd0123 ") && says("20.0s") &&
              says(" row"),
          "tables prints the rows of one, with times");
    check(says(" mean\n") && says("10.0s"), "and what is derived from them");
    row = trace_lock_sites_row(arch_trace_ring(), 0xabcd0124, TARN_LOCK_MUTEX, 1, 1);
    trace_row_begin(&row->begun);
    trace_row_add(&row->times, 1000000);
    trace_row_add(&row->ticks, arch_trace_info()->clock_hz);
    trace_row_end(&row->ended);
    check(run("trace tables lock_sites --by times --top 1") == 0 && says("0xabcd0124  user mutex") &&
              says("  hold ") && !says("0xabcd0123"),
          "sorted by another column, only the first row, with names");
    check(run("trace tables lock_sites --top 1 --by mean") == 0 && says("0xabcd0123") && !says("0xabcd0124"),
          "sorted by a derived column");
    check(fails_with("trace tables lock_sites --by bogus", 1, "no such column") &&
              fails_with("trace tables lock_sites --top 0", 1, "'--top 0': options are") &&
              fails_with("trace tables lock_sites --top", 1, "'--top ': options are") &&
              fails_with("trace tables lock_sites --bogus 1", 1, "options are"),
          "wrong options are refused");
    check(fails_with("trace tables bogus", 1, "no table has that name"), "there is no other table");
}

static void test_routines(void)
{
    check(run("trace routines off") == 0 &&
              fails_with("ktau", 1, "ktau: routines are not counted: switch them on with"),
          "without routines ktau says how to get them");
    check(run("trace routines on") == 0 && run("ktau run false") == 1 && says("threads 1, life") &&
              says("fault zero") && says("call proc_exit") && says("out reply") && says("program\n"),
          "ktau shows where a command was, and ends with its status");
    check(fails_with("ktau run nowhere", 127, "ktau: nowhere: No such file or directory\n"),
          "a command that is not there");
    check(run("ktau -a") == 0 && says("served proc_spawn") && says("out idle"), "and where all are");
    check(run("trace routines off") == 0, "routines are not counted again");
}

int main(void)
{
    const struct trace_info *info = arch_trace_info();
    mkdir("/tmp", 0777);
    check(run("trace --help") == 0 && says("usage: trace"), "--help");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        take_step(&settings[i]);
    test_refusals(info);
    const uint32_t generation = info->generation;
    check(run("trace clear") == 0 && info->generation == generation + 1, "clear");
    test_events();
    test_studies(info);
    run("trace mask none");
    test_bench();
    test_app_bench();
    test_app_limits();
    test_tables();
    unlink(OUTPUT);
    test_routines();
    return finish_tests();
}
