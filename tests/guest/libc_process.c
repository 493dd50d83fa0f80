/* libc_process.c - spawning, waiting, killing; inheritance. It spawns itself. */
#include "run.h"
#include "tap.h"
#include "threads.h"

#include <arpa/inet.h>
#include <servers/proc/script.h>
#include <servers/protocol/proc.h>
#include <stdio_ext.h>
#include <sys/times.h>
#include <time.h>

static const char *self;

/* Runs this program with an argument that main knows. */
static pid_t start(const char *what, const posix_spawn_file_actions_t *actions)
{
    return start_words(WORDS(self, what), actions, NULL);
}

static bool exits(const char *what, int status)
{
    return status_of(start(what, NULL)) == status << 8;
}

static bool is_killed(const char *what, int signal)
{
    const int found = status_of(start(what, NULL));
    return WIFSIGNALED(found) && WTERMSIG(found) == signal;
}

static void test_exit(void)
{
    int status;
    check(exits("exit7", 7), "exit status");
    check(start("exit7", NULL) > 0 && wait(&status) > 0 && WEXITSTATUS(status) == 7, "wait");
    check(waitpid(-1, &status, 0) < 0 && errno == ECHILD, "no child is ECHILD");
    check(start_program("/no/such/program") == -ENOENT, "no program is ENOENT");
    check(is_killed("abort", SIGABRT), "abort");
    check(is_killed("overflow", SIGSEGV), "a thread's stack that overflows is SIGSEGV");
    status = status_of(start("trap", NULL));
    check(WIFSIGNALED(status) && WTERMSIG(status) != SIGSEGV, "an instruction that traps ends a process");
    check(is_killed("crash", SIGSEGV), "a wild store is SIGSEGV");
    /* A program has a capability to its own space. */
    check(exits("unwatch", 7), "a program cannot hide its end from its creator");
    check(is_killed("unhandle", SIGSEGV), "nor its faults");
}

static void test_facts(void)
{
    char name[16], text[INET_ADDRSTRLEN];
    struct in_addr address;
    struct timespec before, after, until;
    struct tms tms;
    check(gethostname(name, sizeof name) == 0 && !strcmp(name, "tarn") && getpagesize() == 4096 &&
              getppid() > 0 && getegid() == getgid(),
          "facts about machine and process");
    posix_spawnattr_t attributes;
    short flags = 9;
    posix_spawnattr_init(&attributes);
    check(posix_spawnattr_setflags(&attributes, 0) == 0 &&
              posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) == EINVAL &&
              posix_spawnattr_getflags(&attributes, &flags) == 0 && flags == 0,
          "attributes of a child");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, "/bin");
    check(WEXITSTATUS(status_of(start("inside", &actions))) == 7, "a child's directory");
    posix_spawn_file_actions_destroy(&actions);
    check(fork() < 0 && errno == ENOSYS, "there is no fork");
    check(inet_pton(AF_INET, "10.0.2.15", &address) == 1 && inet_ntop(AF_INET, &address, text, sizeof text) &&
              !strcmp(text, "10.0.2.15") && inet_pton(AF_INET, "10.0.2", &address) == 0,
          "addresses as text");
    clock_gettime(CLOCK_MONOTONIC, &before);
    until = (struct timespec){before.tv_sec + 1, before.tv_nsec};
    check(clock_getres(CLOCK_MONOTONIC, &after) == 0 && after.tv_nsec == 1 && times(&tms) > 0 &&
              clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0 &&
              clock_gettime(CLOCK_MONOTONIC, &after) == 0 && after.tv_sec > before.tv_sec,
          "clock_nanosleep sleeps until then");
}

static void test_kill(void)
{
    pid_t pid = start("sleep", NULL);
    int status = -1;
    check(waitpid(pid, &status, WNOHANG) == 0, "WNOHANG while it runs");
    check(kill(pid, 0) == 0 && kill(pid, SIGTERM) == 0, "kill");
    status = status_of(pid);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "killed by it");
    check(kill(pid, SIGTERM) < 0 && errno == ESRCH, "no such process any more");
}

/* Runs it with a pipe as standard output. Returns whether that got `expected`, and the status is 0. */
static bool prints(const char *what, const char *expected)
{
    int fds[2];
    char buffer[64] = "";
    posix_spawn_file_actions_t actions;
    if (pipe(fds) != 0)
        return false;
    fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addclose(&actions, fds[1]);
    pid_t pid = start(what, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    for (ssize_t size = 0, got = 1; got > 0; size += got)
        got = read(fds[0], buffer + size, sizeof(buffer) - 1 - (size_t)size);
    close(fds[0]);
    return status_of(pid) == 0 && !strcmp(buffer, expected);
}

static void test_files(void)
{
    setenv("GREETING", "hello from the parent", 1);
    check(prints("greet", "hello from the parent\n"), "environment and a pipe as stdout");
    check(prints("forget", ""), "stdout is not line-buffered on a pipe");
    check(__flbf(stdout), "stdout is line-buffered on the console");
}

#define SCRIPT "/tmp/libc_process.script"

static bool starts(const char *line, const char *argument, int wanted, const char *said)
{
    char text[64];
    const int fd = open(SCRIPT, O_CREAT | O_TRUNC | O_WRONLY, 0755);
    const bool written = write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    close(fd);
    return run_and_read(WORDS(SCRIPT, argument), NULL, text, sizeof text) == wanted && written &&
           (wanted || !strcmp(text, said));
}

static void test_scripts(void)
{
    static char argument[PROC_SPAWN_BYTES + 1], line[SCRIPT_LINE_MAX + 2] = "#!/";
    check(starts("#!/bin/echo", "x", 0, SCRIPT " x\n") &&
              starts("#! \t/bin/echo  one  two \r\n", "x", 0, "one  two " SCRIPT " x\n"),
          "blanks around an interpreter and its argument do not count");
    check(starts("#!\n", "x", -ENOEXEC, "") && starts("#!echo\n", "x", -ENOEXEC, "") &&
              starts("# !/bin/echo\n", "x", -ENOEXEC, "") && starts("#", "x", -ENOEXEC, ""),
          "other first lines are no scripts");
    memset(line + 3, 'x', SCRIPT_LINE_MAX - 3);
    check(starts(line, "x", -ENOEXEC, ""), "nor are longer lines");
    line[SCRIPT_LINE_MAX - 1] = '\n';
    check(starts(line, "x", -ENOENT, ""), "the longest line");
    memset(argument, 'x', PROC_SPAWN_BYTES);
    copy_file("/bin/true", SCRIPT);
    for (size_t size = PROC_SPAWN_BYTES; size > 1000 && run_program(SCRIPT, argument) < 0; size -= 100)
        argument[size - 100] = 0;
    snprintf(line, sizeof line, "#!/bin/true %0200d\n", 0);
    check(starts(line, argument, -E2BIG, ""),
          "arguments that fit alone, but not with the interpreter's, are refused");
    unlink(SCRIPT);
}

static volatile int *volatile bad_address = (volatile int *)0x10;

static int sink;
static __attribute__((noinline)) int recurse(int depth)
{
    volatile char frame[1000];
    frame[0] = (char)depth;
    return depth > 1000000 ? sink : recurse(depth + 1) + frame[0];
}

static void *overflow_stack(void *argument)
{
    sink = recurse(0);
    return NULL;
}

static int play_child(const char *what)
{
    if (!strcmp(what, "exit7"))
        exit(7);
    if (!strcmp(what, "abort"))
        abort();
    if (!strcmp(what, "inside"))
        return access("sh", F_OK) == 0 ? 7 : 8;
    if (!strcmp(what, "trap"))
        __builtin_trap();
    if (!strcmp(what, "crash"))
        *bad_address = 1;
    if (!strcmp(what, "overflow"))
        result_of(overflow_stack, NULL);
    if (!strcmp(what, "unwatch"))
        return sys_space_watch(SLOT_SPACE, (cap_t)sys_notification_create(), 1) == -E_EXISTS ? 7 : 8;
    if (!strcmp(what, "unhandle")) {
        sys_space_set_fault_handler(SLOT_SPACE, (cap_t)sys_endpoint_create());
        *bad_address = 1;
    }
    if (!strcmp(what, "sleep"))
        sleep(100);
    if (!strcmp(what, "greet"))
        return puts(getenv("GREETING")) < 0;
    if (!strcmp(what, "forget"))
        _exit(puts("a line in a buffer") < 0);
    return 99;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1)
        return play_child(argv[1]);
    test_facts();
    test_exit();
    test_kill();
    test_files();
    test_scripts();
    return finish_tests();
}
