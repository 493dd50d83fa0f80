/*
 * tests/guest/explore_servers.c - a short workload for `tarn explore`: threads and children that want the
 * same of fs and proc at the same time. It spawns itself: "child" passes on what it hears, "idle" waits to be
 * killed.
 *
 *     explore_servers [names | files | pipes | ends | children [TIMES]]     one part alone
 */
#include "run.h"
#include "tap.h"
#include "threads.h"

#include <poll.h>
#include <sys/stat.h>

#define ROUNDS       25
#define NAMES_ROUNDS 60 /* what meets there is short */
#define ENDS         40 /* pipes */
#define CHILDREN     4  /* of each thread */
#define RECORD       24

static const char *self;
static bool failed[THREADS];

static bool all_good(void)
{
    bool good = true;
    for (unsigned i = 0; i < THREADS; i++)
        good &= !failed[i];
    memset(failed, 0, sizeof failed);
    return good;
}

/* A call that another thread may have made in vain. */
static bool may_fail(int result, int with)
{
    return result >= 0 || errno == with;
}

/* Names: the same ones come, go and move. */
static bool change_names(uintptr_t me, unsigned i)
{
    struct stat about;
    const char *from = (i + me) % 2 ? "/tmp/a/x" : "/tmp/b/y", *to = (i + me) % 2 ? "/tmp/b/y" : "/tmp/a/x";
    int fd = open(from, O_CREAT | O_RDWR, 0644);
    bool good = fd >= 0 && write(fd, "name", 4) == 4 && close(fd) == 0;
    good &= may_fail(rename(from, to), ENOENT) && may_fail(stat(to, &about), ENOENT);
    fd = open(to, O_RDONLY);
    good &= may_fail(fd, ENOENT) && (fd < 0 || close(fd) == 0);
    good &= may_fail(unlink(to), ENOENT);
    return good && may_fail(mkdir("/tmp/c", 0755), EEXIST) && may_fail(rmdir("/tmp/c"), ENOENT);
}

static void *names_work(void *argument)
{
    for (unsigned i = 0; i < NAMES_ROUNDS; i++)
        failed[(uintptr_t)argument] |= !change_names((uintptr_t)argument, i);
    return NULL;
}

static void test_names(void)
{
    bool made = mkdir("/tmp/a", 0755) == 0 && mkdir("/tmp/b", 0755) == 0;
    run_threads(names_work);
    unlink("/tmp/a/x"), unlink("/tmp/b/y"), rmdir("/tmp/c");
    check(made && all_good(), "names come and go");
    check(rmdir("/tmp/a") == 0 && rmdir("/tmp/b") == 0, "nothing is left in their directories");
}

/* Files: all append to one. */
static void *files_work(void *argument)
{
    char record[RECORD];
    memset(record, 'a' + (int)(uintptr_t)argument, sizeof record);
    for (unsigned i = 0; i < ROUNDS; i++) {
        int fd = open("/tmp/log", O_WRONLY | O_APPEND | O_CREAT, 0644), copy = dup(fd);
        failed[(uintptr_t)argument] |=
            fd < 0 || copy < 0 || write(copy, record, sizeof record) != sizeof record;
        close(fd);
        close(copy);
    }
    return NULL;
}

static void test_files(void)
{
    char record[RECORD];
    unsigned count = 0;
    bool whole = true;
    run_threads(files_work);
    int fd = open("/tmp/log", O_RDONLY);
    for (; read(fd, record, sizeof record) == sizeof record; count++)
        for (unsigned i = 1; i < sizeof record; i++)
            whole &= record[i] == record[0];
    close(fd);
    check(all_good() && whole && count == THREADS * ROUNDS,
          "all records that were appended are there, and whole");
    unlink("/tmp/log");
}

/* Pipes: half write, half read. */
static int ends[2];
static unsigned heard[THREADS];

static void *pipes_work(void *argument)
{
    uintptr_t me = (uintptr_t)argument;
    char bytes[RECORD] = {0};
    ssize_t count;
    if (me % 2) {
        for (unsigned i = 0; i < 4 * ROUNDS; i++)
            failed[me] |= write(ends[1], bytes, sizeof bytes) != sizeof bytes;
    } else {
        while (heard[me] < 4 * ROUNDS * sizeof bytes && (count = read(ends[0], bytes, sizeof bytes)) > 0)
            heard[me] += (unsigned)count;
        failed[me] |= heard[me] != 4 * ROUNDS * sizeof bytes;
    }
    return NULL;
}

static void test_pipes(void)
{
    bool made = pipe(ends) == 0;
    run_threads(pipes_work);
    close(ends[0]);
    close(ends[1]);
    check(made && all_good(), "what goes into a pipe comes out");
}

/* Ends: two threads read and one polls until another one closes the other end. */
static int many_ends[ENDS][2];
static pthread_barrier_t together;

static bool read_to_end(int fd)
{
    char bytes[RECORD];
    ssize_t total = 0, count;
    while ((count = read(fd, bytes, sizeof bytes)) > 0)
        total += count;
    return count == 0 && total <= RECORD;
}

static void *ends_work(void *argument)
{
    static const char bytes[RECORD];
    uintptr_t me = (uintptr_t)argument;
    for (unsigned i = 0; i < ENDS; i++) {
        struct pollfd wait = {.fd = many_ends[i][0]};
        pthread_barrier_wait(&together);
        if (me == 1)
            failed[me] |=
                (i % 3 == 0 && write(many_ends[i][1], bytes, RECORD) != RECORD) | close(many_ends[i][1]);
        else if (me == 3)
            failed[me] |= poll(&wait, 1, -1) != 1 || !(wait.revents & POLLHUP);
        else
            failed[me] |= !read_to_end(wait.fd);
    }
    return NULL;
}

static void test_ends(void)
{
    bool made = true;
    for (unsigned i = 0; i < ENDS; i++)
        made &= pipe(many_ends[i]) == 0;
    pthread_barrier_init(&together, NULL, THREADS);
    run_threads(ends_work);
    pthread_barrier_destroy(&together);
    for (unsigned i = 0; i < ENDS; i++)
        close(many_ends[i][0]);
    check(made && all_good(), "who reads or polls a pipe whose other end closes comes to its end");
}

static pid_t start(const char *what, int in, int out)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (in >= 0) {
        posix_spawn_file_actions_adddup2(&actions, in, 0);
        posix_spawn_file_actions_adddup2(&actions, out, 1);
    }
    const pid_t pid = start_words(WORDS(self, what), &actions, NULL);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* One replies through pipes; one is killed, perhaps before it ever ran. */
static bool use_children(void)
{
    int to[2], from[2], status = -1;
    char text[4] = "";
    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        return false;
    pid_t child = start("child", to[0], from[1]), idle = start("idle", -1, -1);
    close(to[0]);
    close(from[1]);
    bool good = child > 0 && idle > 0 && write(to[1], "abc", 3) == 3;
    close(to[1]);
    good &= kill(idle, SIGTERM) == 0;
    good &= waitpid(idle, &status, 0) == idle && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
    good &= read(from[0], text, sizeof text) == 3 && memcmp(text, "abc", 3) == 0;
    good &= read(from[0], text, 1) == 0; /* it has ended, and nobody else has that end */
    close(from[0]);
    return good && waitpid(child, &status, 0) == child && status == 0;
}

static void *children_work(void *argument)
{
    for (unsigned i = 0; i < CHILDREN; i++)
        failed[(uintptr_t)argument] |= !use_children();
    return NULL;
}

static void test_children(void)
{
    run_threads(children_work);
    check(all_good(), "children reply, end and are waited for");
    check(waitpid(-1, NULL, 0) < 0 && errno == ECHILD, "no child is left");
}

int main(int argc, char **argv)
{
    static void (*const tests[])(void) = {test_names, test_files, test_pipes, test_ends, test_children};
    static const char *const names[] = {"names", "files", "pipes", "ends", "children"};
    const char *part = argc > 1 ? argv[1] : "";
    char text[4];
    self = argv[0];
    if (strcmp(part, "child") == 0)
        return read(0, text, sizeof text) != 3 || write(1, text, 3) != 3;
    while (strcmp(part, "idle") == 0)
        sleep(1000);
    mkdir("/tmp", 0777);
    for (int times = argc > 2 ? atoi(argv[2]) : 1; times; times--)
        for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++)
            if (!*part || strcmp(part, names[i]) == 0)
                tests[i]();
    return finish_tests();
}
