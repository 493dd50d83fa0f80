/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/checkpoint_list.c - reads and writes the list of a recipe's checkpoints; see
 * checkpoint_list.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <tools/tarn/goto/checkpoint_list.h>
#include <tools/tarn/goto/checkpoint_process.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define VERSION       1
#define LIST_MAX      (256u << 10) /* bytes */
#define LOCK_SECONDS  10.0         /* another tarn holds it for a few milliseconds */
#define TRIES         10u
#define LIST_NAME     "list"
#define NEW_DIRECTORY "new" /* separate, because a renamed file also counts as deleted */
#define NEW_NAME      NEW_DIRECTORY "/list"

/* ---- the directory ---- */

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

void checkpoint_list_name(struct checkpoints *set, const struct recipe *recipe)
{
    const char *parent = getenv("TMPDIR");

    set->recipe = hash_recipe(recipe);
    snprintf(set->path, sizeof(set->path), "%s/tarn-checkpoints-%u-%016" PRIx64,
             parent != NULL && *parent != '\0' ? parent : "/tmp", (unsigned)getuid(), set->recipe);
}

static bool lock(int directory, struct fail *fail)
{
    double until = now_seconds() + LOCK_SECONDS;

    while (flock(directory, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail_set(fail, "%s", strerror(errno));
        if (now_seconds() > until)
            return fail_set(fail, "another process has had it locked for %.0f s", LOCK_SECONDS);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

/* Whether the directory still has its name. Another tarn may have removed it. */
static bool is_there(const struct checkpoints *set, const struct stat *about)
{
    struct stat named;

    return lstat(set->path, &named) == 0 && named.st_dev == about->st_dev && named.st_ino == about->st_ino;
}

/* Sets AGAIN if it was removed meanwhile. */
static int open_once(const struct checkpoints *set, bool *again, struct fail *fail)
{
    bool is_named = mkdir(set->path, 0700) == 0 || errno == EEXIST;
    int fd = is_named ? open(set->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat about;

    *again = fd < 0 && is_named && errno == ENOENT;
    if (fd < 0 || fstat(fd, &about) != 0) {
        fail_set(fail, "%s", strerror(errno));
    } else if (about.st_uid != getuid()) {
        fail_set(fail, "it belongs to another user");
    } else if (lock(fd, fail)) {
        if (is_there(set, &about))
            return fd;
        *again = true;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int checkpoint_list_open(const struct checkpoints *set, struct fail *fail)
{
    bool again = true;
    struct fail why;
    int fd = -1;

    for (unsigned i = 0; fd < 0 && again && i < TRIES; i++)
        fd = open_once(set, &again, &why);
    if (fd < 0)
        fail_set(fail, "%.300s cannot be used: %.100s", set->path, why.text);
    return fd;
}

void checkpoint_list_remove(const struct checkpoints *set, int directory)
{
    unlinkat(directory, NEW_NAME, 0);
    unlinkat(directory, NEW_DIRECTORY, AT_REMOVEDIR);
    unlinkat(directory, LIST_NAME, 0);
    rmdir(set->path);
}

/* ---- reading the list ---- */

/* Parses a number at *TEXT, and advances that. */
static bool take_number(char **text, int base, uint64_t *number)
{
    char *end;

    *number = strtoull(*text, &end, base);
    bool found = end != *text;
    *text = end;
    return found;
}

static bool parse_checkpoint(char **text, struct checkpoint *checkpoint)
{
    uint64_t pid, timer, milliseconds, cpus;

    if (!take_number(text, 10, &pid) || !take_number(text, 10, &checkpoint->born) ||
        !take_number(text, 10, &timer) || !take_number(text, 10, &milliseconds) ||
        !take_number(text, 16, &checkpoint->base) || !take_number(text, 10, &checkpoint->bytes) ||
        !take_number(text, 10, &cpus) || cpus > CHECKPOINT_CPUS || pid == 0 || pid > INT32_MAX)
        return false;
    checkpoint->pid = (pid_t)pid, checkpoint->timer = (int)timer, checkpoint->cpus = (unsigned)cpus;
    checkpoint->seconds = (double)milliseconds / 1e3;
    for (unsigned i = 0; i < checkpoint->cpus; i++)
        if (!take_number(text, 16, &checkpoint->index[i]))
            return false;
    return true;
}

/* TEXT ends with the hash of all before it. */
static bool parse_list(struct checkpoints *set, char *text, struct fail *fail)
{
    uint64_t version, recipe, milliseconds, count, sum;
    char *end = strchr(text, '#'), *after = end != NULL ? end + 1 : NULL;

    if (end == NULL || !take_number(&after, 16, &sum) || sum != hash_more(0, text, (size_t)(end - text)) ||
        !take_number(&text, 10, &version) || version != VERSION || !take_number(&text, 16, &recipe) ||
        !take_number(&text, 10, &milliseconds) || !take_number(&text, 10, &count) || count > CHECKPOINTS_MAX)
        return fail_set(fail, "the list of checkpoints in %.300s is damaged", set->path);
    if (recipe != set->recipe)
        return fail_set(fail, "the list of checkpoints in %.300s is of another run", set->path);
    set->spacing = (double)milliseconds / 1e3;
    for (uint64_t i = 0; i < count; i++) {
        struct checkpoint checkpoint;
        if (!parse_checkpoint(&text, &checkpoint))
            return fail_set(fail, "the list of checkpoints in %.300s is damaged", set->path);
        if (checkpoint.born != 0 && process_born(checkpoint.pid) == checkpoint.born)
            set->all[set->count++] = checkpoint;
    }
    return true;
}

bool checkpoint_list_read(struct checkpoints *set, int directory, struct fail *fail)
{
    char *text = alloc_zero(1, LIST_MAX + 1);
    int fd = openat(directory, LIST_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ok = fd < 0 && errno == ENOENT; /* a new directory */

    set->count = 0;
    set->spacing = CHECKPOINT_FIRST_SPACING;
    if (!ok)
        ok = fd >= 0 && read(fd, text, LIST_MAX) >= 0
                 ? parse_list(set, text, fail)
                 : fail_set(fail, "the list of checkpoints in %.300s cannot be read: %s", set->path,
                            strerror(errno));
    if (fd >= 0)
        close(fd);
    free(text);
    if (!ok)
        set->count = 0;
    return ok;
}

/* ---- writing it ---- */

static char *format_checkpoint(char *to, const struct checkpoint *one)
{
    to += sprintf(to, "%d %" PRIu64 " %d %.0f %" PRIx64 " %" PRIu64 " %u", (int)one->pid, one->born,
                  one->timer, one->seconds * 1e3, one->base, one->bytes, one->cpus);
    for (unsigned cpu = 0; cpu < one->cpus; cpu++)
        to += sprintf(to, " %" PRIx64, one->index[cpu]);
    *to++ = '\n';
    return to;
}

static bool write_new(int directory, const char *text, size_t size)
{
    mkdirat(directory, NEW_DIRECTORY, 0700);
    int fd = openat(directory, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && write(fd, text, size) == (ssize_t)size;

    return (fd < 0 || close(fd) == 0) && ok && renameat(directory, NEW_NAME, directory, LIST_NAME) == 0;
}

bool checkpoint_list_write(const struct checkpoints *set, int directory, struct fail *fail)
{
    char *text = alloc_zero(1, LIST_MAX), *to = text;

    to += sprintf(to, "%d %" PRIx64 " %.0f %u\n", VERSION, set->recipe, set->spacing * 1e3, set->count);
    for (unsigned i = 0; i < set->count; i++)
        to = format_checkpoint(to, &set->all[i]);
    to += sprintf(to, "#%" PRIx64 "\n", hash_more(0, text, (size_t)(to - text)));
    errno = ENOSPC; /* for a partial write */
    bool ok =
        write_new(directory, text, (size_t)(to - text)) ||
        fail_set(fail, "the list of checkpoints in %.300s cannot be written: %s", set->path, strerror(errno));
    free(text);
    return ok;
}
