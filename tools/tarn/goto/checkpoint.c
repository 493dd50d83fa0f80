/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint.c - keeps machines at instants of a run; see checkpoint.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <tools/tarn/goto/checkpoint.h>
#include <tools/tarn/goto/remote.h>
#include <tools/tarn/goto/twin.h>
#include <tools/tarn/read/read.h>
#include <trace/format/layout.h>
#include <unistd.h>

#define VERSION       1
#define FIRST_SPACING 0.25
#define LIST_MAX      (256u << 10) /* bytes */

/* ---- the machines' processes ---- */

/* When a process was started; 0: there is none, or it is not stopped. */
static uint64_t born_at(pid_t pid)
{
    char path[40], text[600], state = '?';
    unsigned long long born = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *at = strrchr(text, ')'); /* the name before may have any character */
    if (at == NULL ||
        sscanf(at, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &born) != 2)
        return 0;
    return state == 'T' || state == 't' ? born : 0;
}

static void end_machine(const struct checkpoint *checkpoint)
{
    if (born_at(checkpoint->pid) == checkpoint->born)
        kill(checkpoint->pid, SIGKILL); /* whoever is its parent waits for it, at the latest when tarn ends */
}

static uint64_t machine_bytes(pid_t pid)
{
    unsigned long long kib = 0;
    char path[40], line[200];

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL && sscanf(line, "Pss: %llu", &kib) != 1)
        ;
    if (file != NULL)
        fclose(file);
    return kib << 10;
}

uint64_t checkpoints_bytes(const struct checkpoints *set)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < set->count; i++)
        bytes += machine_bytes(set->all[i].pid);
    return bytes;
}

static void thin_out(struct checkpoints *set)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < set->count; i++)
        if (i % 2 == 1 ||
            set->count == 1) /* the first stays longest: to get there the rings had to be found */
            end_machine(&set->all[i]);
        else
            set->all[kept++] = set->all[i];
    set->count = kept;
    set->spacing *= 2;
}

static void keep_limit(struct checkpoints *set)
{
    while (set->count > 0 && checkpoints_bytes(set) > set->bytes_most)
        thin_out(set);
}

/* ---- the list ---- */

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    while (size-- > 0)
        hash = (hash ^ *at++) * 0x100000001b3ull; /* FNV-1a */
    return hash;
}

static uint64_t hash_recipe(const struct recipe *recipe)
{
    const char *words[] = {recipe->emulator, recipe->kernel.sha256, recipe->archive.sha256};
    uint64_t hash = hash_more(0xcbf29ce484222325ull, &recipe->seed, sizeof(recipe->seed));

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        hash = hash_more(hash, words[i], strlen(words[i]) + 1);
    for (size_t i = 0; i < recipe->command_count; i++)
        hash = hash_more(hash, recipe->command[i], strlen(recipe->command[i]) + 1);
    return hash;
}

/* Opened and locked; -1: it cannot be. */
static int open_list(const struct checkpoints *set, struct fail *fail)
{
    struct stat about;
    int locked, fd = open(set->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == getuid()) {
        while ((locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
            ;
        if (locked == 0)
            return fd;
    }
    fail_set(fail, "%s cannot be used: %s", set->path, fd < 0 ? strerror(errno) : "it is not our file");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Takes a number from *TEXT. */
static bool take_number(char **text, int base, uint64_t *number)
{
    char *end;

    *number = strtoull(*text, &end, base);
    bool found = end != *text;
    *text = end;
    return found;
}

static bool parse_machine(char **text, struct checkpoint *checkpoint)
{
    uint64_t pid, timer, milliseconds, cpus;

    if (!take_number(text, 10, &pid) || !take_number(text, 10, &checkpoint->born) ||
        !take_number(text, 10, &timer) || !take_number(text, 10, &milliseconds) ||
        !take_number(text, 16, &checkpoint->base) || !take_number(text, 10, &checkpoint->bytes) ||
        !take_number(text, 10, &cpus) || cpus > CHECKPOINT_PROCESSORS)
        return false;
    checkpoint->pid = (pid_t)pid, checkpoint->timer = (int)timer, checkpoint->cpus = (unsigned)cpus;
    checkpoint->seconds = (double)milliseconds / 1e3;
    for (unsigned i = 0; i < checkpoint->cpus; i++)
        if (!take_number(text, 16, &checkpoint->index[i]))
            return false;
    return true;
}

/* TEXT ends with the hash of what is before it. */
static bool parse_list(struct checkpoints *set, char *text, struct fail *fail)
{
    uint64_t version, recipe, milliseconds, count, sum;
    char *end = strrchr(text, '#'), *after = end != NULL ? end + 1 : NULL;

    set->count = 0;
    if (end == NULL || !take_number(&after, 16, &sum) || sum != hash_more(0, text, (size_t)(end - text)) ||
        !take_number(&text, 10, &version) || version != VERSION || !take_number(&text, 16, &recipe) ||
        !take_number(&text, 10, &milliseconds) || !take_number(&text, 10, &count) || count > CHECKPOINTS_MOST)
        return fail_set(fail, "the list of checkpoints, %.300s, is damaged", set->path);
    if (recipe != set->recipe)
        return fail_set(fail, "the list of checkpoints, %.300s, is of another run", set->path);
    set->spacing = (double)milliseconds / 1e3;
    for (uint64_t i = 0; i < count; i++) {
        struct checkpoint checkpoint;
        if (!parse_machine(&text, &checkpoint))
            return fail_set(fail, "the list of checkpoints, %.300s, is damaged", set->path);
        if (checkpoint.born != 0 && born_at(checkpoint.pid) == checkpoint.born)
            set->all[set->count++] = checkpoint;
    }
    return true;
}

static bool read_list(struct checkpoints *set, int fd, struct fail *fail)
{
    char *text = alloc_zero(1, LIST_MAX + 1);
    ssize_t size = pread(fd, text, LIST_MAX, 0);

    set->count = 0;
    set->spacing = FIRST_SPACING;
    bool fine = size == 0 || (size > 0 && parse_list(set, text, fail));
    free(text);
    if (!fine)
        set->count = 0;
    return fine;
}

static void write_list(const struct checkpoints *set, int fd)
{
    char *text = alloc_zero(1, LIST_MAX), *to = text;

    to += sprintf(to, "%d %" PRIx64 " %.0f %u\n", VERSION, set->recipe, set->spacing * 1e3, set->count);
    for (unsigned i = 0; i < set->count; i++) {
        const struct checkpoint *one = &set->all[i];
        to += sprintf(to, "%d %" PRIu64 " %d %.0f %" PRIx64 " %" PRIu64 " %u", (int)one->pid, one->born,
                      one->timer, one->seconds * 1e3, one->base, one->bytes, one->cpus);
        for (unsigned cpu = 0; cpu < one->cpus; cpu++)
            to += sprintf(to, " %" PRIx64, one->index[cpu]);
        *to++ = '\n';
    }
    to += sprintf(to, "#%" PRIx64 "\n", hash_more(0, text, (size_t)(to - text)));
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)(to - text), 0) != to - text)
        ftruncate(fd, 0) == 0 ? (void)0 : (void)unlink(set->path);
    free(text);
}

bool checkpoints_open(struct checkpoints *set, const struct recipe *recipe, uint64_t bytes_most,
                      struct fail *fail)
{
    const char *parent = getenv("TMPDIR");

    *set = (struct checkpoints){.recipe = hash_recipe(recipe), .bytes_most = bytes_most};
    snprintf(set->path, sizeof(set->path), "%s/tarn-checkpoints-%u-%016" PRIx64,
             parent != NULL && *parent != '\0' ? parent : "/tmp", (unsigned)getuid(), set->recipe);
    if (bytes_most == 0)
        return true;
    int fd = open_list(set, fail);
    if (fd < 0) {
        set->bytes_most = 0;
        return false;
    }
    bool fine = read_list(set, fd, fail);
    keep_limit(set);
    write_list(set, fd);
    close(fd);
    return fine;
}

/* ---- using them ---- */

bool checkpoint_passed(uint64_t index, uint64_t words)
{
    return (index & ~TRACE_INDEX_CLOSED) + (index >> 63) > words;
}

const struct checkpoint *checkpoints_find(const struct checkpoints *set, unsigned cpu, uint64_t words)
{
    const struct checkpoint *best = NULL;

    for (unsigned i = 0; i < set->count; i++) {
        const struct checkpoint *one = &set->all[i];
        if (cpu < one->cpus && !checkpoint_passed(one->index[cpu], words) &&
            (best == NULL || one->seconds > best->seconds))
            best = one;
    }
    return best;
}

/* In CHECKPOINT_MINUTES the system ends the process, which need not run for that. */
static bool wind_up(const struct remote *remote, int timer)
{
    struct itimerspec when = {.it_value.tv_sec = CHECKPOINT_MINUTES * 60};

    return remote_put(remote, &when, sizeof(when)) &&
           remote_call(remote, SYS_timer_settime,
                       (unsigned long[6]){(unsigned long)timer, 0, remote->scratch}, NULL) == 0;
}

static bool make_timer(const struct remote *remote, int *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    uint64_t timer_at = remote->scratch + sizeof(event);

    return remote_put(remote, &event, sizeof(event)) &&
           remote_call(remote, SYS_timer_create,
                       (unsigned long[6]){CLOCK_MONOTONIC, remote->scratch, timer_at}, NULL) == 0 &&
           pread(remote->memory, timer, sizeof(*timer), (off_t)timer_at) == sizeof(*timer) &&
           wind_up(remote, *timer);
}

/* Leaves it stopped, and to nobody. No thread of it executes anything of its own on the way. */
static void let_stand(struct freezer *machine)
{
    kill(machine->pid, SIGSTOP);
    freezer_close(machine);
}

bool checkpoint_visit(const struct checkpoint *checkpoint, struct freezer *twin, struct fail *fail)
{
    struct freezer machine;
    struct remote remote;
    bool not_now;

    if (!freezer_open(&machine, checkpoint->pid, fail)) {
        freezer_close(&machine);
        return false;
    }
    bool fine = remote_open(&remote, machine.pid, machine.pid, fail) && wind_up(&remote, checkpoint->timer) &&
                twin_make(&machine, twin, &not_now, fail);
    remote_close(&remote);
    let_stand(&machine);
    return fine;
}

bool checkpoints_are_due(const struct checkpoints *set, double seconds)
{
    double last = 0;

    for (unsigned i = 0; i < set->count; i++)
        last = set->all[i].seconds > last ? set->all[i].seconds : last;
    return set->bytes_most > 0 && seconds >= last + set->spacing;
}

/* Of a session of its own: no terminal's end reaches it, and any later tarn may take hold of it. */
static bool set_free(struct freezer *machine, struct checkpoint *checkpoint, struct fail *fail)
{
    struct remote remote;
    bool fine = remote_open(&remote, machine->pid, machine->pid, fail) &&
                make_timer(&remote, &checkpoint->timer) &&
                remote_call(&remote, SYS_setsid, (unsigned long[6]){0}, NULL) > 0;

    if (fine)
        remote_call(&remote, SYS_prctl, (unsigned long[6]){PR_SET_PTRACER, (unsigned long)PR_SET_PTRACER_ANY},
                    NULL);
    remote_close(&remote);
    return fine;
}

/* By seconds. */
static void insert(struct checkpoints *set, const struct checkpoint *checkpoint)
{
    unsigned at = set->count++;

    for (; at > 0 && set->all[at - 1].seconds > checkpoint->seconds; at--)
        set->all[at] = set->all[at - 1];
    set->all[at] = *checkpoint;
}

/* The list is changed while tarn still holds the machine: if tarn is killed meanwhile, the machine ends. */
static void list_machine(struct checkpoints *set, struct freezer *machine, struct checkpoint *checkpoint)
{
    struct fail fail;
    int fd = open_list(set, &fail);

    if (fd < 0 || !read_list(set, fd, &fail)) {
        kill(machine->pid, SIGKILL);
    } else {
        if (set->count == CHECKPOINTS_MOST)
            thin_out(set);
        checkpoint->born = born_at(machine->pid);
        insert(set, checkpoint);
        keep_limit(set);
        write_list(set, fd);
    }
    let_stand(machine);
    if (fd >= 0)
        close(fd);
}

void checkpoints_add(struct checkpoints *set, struct freezer *emulator, const struct checkpoint *here)
{
    struct checkpoint checkpoint = *here;
    struct freezer machine;
    struct fail fail;
    bool not_now;

    if (!twin_make(emulator, &machine, &not_now, &fail)) {
        if (!not_now)
            set->bytes_most = 0; /* this system does not let us */
        return;
    }
    checkpoint.pid = machine.pid;
    if (!set_free(&machine, &checkpoint, &fail))
        kill(machine.pid, SIGKILL);
    list_machine(set, &machine, &checkpoint);
}

void checkpoints_forget(struct checkpoints *set)
{
    struct fail fail;
    int fd = open_list(set, &fail);

    if (fd < 0)
        return;
    if (read_list(set, fd, &fail))
        for (unsigned i = 0; i < set->count; i++)
            end_machine(&set->all[i]);
    set->count = 0;
    unlink(set->path);
    close(fd);
}
