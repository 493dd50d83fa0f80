/*
 * cases.c - runs commands as their users do, and checks what they print and set. As /test/NAME it takes its
 * cases from /test/NAME.cases:
 *
 *     $ COMMAND            runs it in a shell
 *     : COMMAND            runs it without one
 *     ? STATUS             its exit status, if not 0; -errno, if it cannot be started
 *     = TEXT               a line that it prints, on either output; without others
 *     ~ TEXT               it prints TEXT, behind the TEXT of the line before
 *     ! TEXT               it does not
 *     @ WORD VALUE         that the trace's info page has now; VALUE may be `booted`
 *     & NUMBER             authority that commands have from here on (servers/protocol/authority.def)
 *     . FILE               with lines `COMMAND => ERROR`: `trace COMMAND` is refused, and changes nothing
 *
 * ` ;; ` stands between several of them in a line.
 */
#include "run.h"
#include "tap.h"

#include <arch/trace.h>
#include <trace/events.h>
#include <trace/ipc.h>
#include <trace/sched.h>

#define SCRIPT "/tmp/script"
#define BINARY "/tmp/binary" /* a file that is neither a program nor a text */

static const struct {
    const char *name;
    size_t at, bytes;
} words[] = {
#define WORD(name, member)                                                           \
    {                                                                                \
        name, offsetof(struct trace_info, member), sizeof(arch_trace_info()->member) \
    }
    WORD("mask", mask),
    WORD("sched", switches[TRACE_CLASS_SCHED]),
    WORD("ipc", switches[TRACE_CLASS_IPC]),
    WORD("buffer_mask", buffer_mask),
    WORD("buffer_count", buffer_count),
    WORD("behind_limits", event_limit[TRACE_LIMITED_COUNT]),
};

static struct trace_info booted;
static uint32_t authority;

/* The case that is being looked at. */
static char title[256], output[65536], exact[4096];
static const char *found; /* in `output` */
static int status, wanted;
static bool good;

static void finish_case(void)
{
    good = good && status == wanted && (!*exact || !strcmp(output, exact));
    if (*title)
        check(good, "%s", title);
    if (*title && !good)
        printf("# status %d, output: %.600s\n", status, output);
    *title = *exact = 0;
    wanted = 0;
}

static void run_words(const char *const argv[])
{
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setauthority_np(&attributes, authority);
    status = run_and_read(argv, &attributes, output, sizeof output);
    posix_spawnattr_destroy(&attributes);
    found = output;
    good = true;
}

static void run_command(const char *command, bool in_shell)
{
    const char *argv[16] = {"/bin/sh", "-c", command};
    char copy[sizeof title], *rest = copy;
    snprintf(title, sizeof title, "%s", command);
    strcpy(copy, title);
    for (size_t i = 0; !in_shell && i < 15; i++)
        argv[i] = strsep(&rest, " ");
    run_words(argv);
}

static uint64_t word_of(const struct trace_info *info, const char *name)
{
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].name, name))
            memcpy(&value, (const char *)info + words[i].at, words[i].bytes);
    return value;
}

static bool has_word(char *text)
{
    const char *name = strsep(&text, " ");
    const uint64_t value = strcmp(text, "booted") ? strtoull(text, NULL, 0) : word_of(&booted, name);
    return word_of(arch_trace_info(), name) == value;
}

static void take_refusals(const char *path)
{
    const struct trace_info *info = arch_trace_info();
    const struct trace_info before = *info;
    char line[256], command[300];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *error = strstr(line, " => ");
        if (line[0] == '#' || !error)
            continue;
        *error = 0;
        error[strcspn(error + 1, "\n") + 1] = 0;
        snprintf(command, sizeof command, "trace %s", line);
        run_command(command, false);
        wanted = status == 1 ? 1 : 2;
        good = strstr(output, error + 4);
        finish_case();
    }
    check(file && info->mask == before.mask && info->low_water == before.low_water &&
              info->buffer_count == before.buffer_count &&
              !memcmp(info->switches, before.switches, sizeof before.switches),
          "what is refused changes nothing");
    if (file)
        fclose(file);
}

static void take_case(char *line)
{
    char *text = line[0] && line[1] ? line + 2 : line + 1;
    switch (line[0]) {
    case '$':
    case ':':
        finish_case();
        run_command(text, line[0] == '$');
        break;
    case '?':
        wanted = atoi(text);
        break;
    case '=':
        strcat(strcat(exact, text), "\n");
        break;
    case '~':
        found = found ? strstr(found, text) : NULL;
        good = good && found;
        break;
    case '!':
        good = good && !strstr(output, text);
        break;
    case '@':
        good = good && has_word(text);
        break;
    case '&':
        authority = (uint32_t)atoi(text);
        break;
    case '.':
        finish_case();
        take_refusals(text);
    }
}

int main(int argc, char **argv)
{
    char line[1024];
    booted = *arch_trace_info();
    close(open(SCRIPT, O_CREAT | O_WRONLY, 0755));
    const int binary = open(BINARY, O_CREAT | O_WRONLY, 0755);
    check(write(binary, "\1\0\2\n", 4) == 4, "files that may be executed");
    close(binary);
    snprintf(line, sizeof line, "%s.cases", argv[0]);
    FILE *file = fopen(line, "r");
    check(file, "%s", line);
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        for (char *part = line, *next; part; part = next) {
            next = strstr(part, " ;; ");
            if (next) {
                *next = 0;
                next += 4;
            }
            take_case(part);
        }
    }
    finish_case();
    return finish_tests();
}
