/*
 * sdet.c - simulates many users at their terminals, after SPEC SDET as the K42 paper runs it (section 4,
 * figure 3).
 *
 * Each of N scripts is a shell that runs the same small programs, in its own order and in its own directory.
 * Prints the throughput in scripts per hour. Logs marks and a stopwatch per script.
 *
 *     sdet [-n scripts] [-r rounds] [-c cpus] [-k]     -k: keep the directories
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tarn/runtime.h>
#include <trace/user.h>

extern char **environ;

#define SCRIPTS_MAX 256
static const char root[] = "/tmp/sdet";

static unsigned scripts = 8, rounds = 1, processors;
static bool keep;

/* The commands of a user. @ stands for the round, so that rounds use different files. */
static const char *const commands[] = {
    "echo report of user > report@; cat report@ > copy@",
    "cp words text@; wc text@ > count@",
    "sort words > sorted@",
    "grep a words | wc -l > hits@",
    "mkdir work@; cp words work@/data; ls -l work@ > list@",
    "cat words words words > triple@; grep -c e triple@ > hits2@",
    "sort -r words | cat > reverse@; rm reverse@",
    "mkdir -p tree@/a/b; cp words tree@/a/b/leaf; rm -r tree@",
    "cp words old@; mv old@ new@; cat new@ > /dev/null",
    "ls > names@; wc -l names@ > lines@",
    "cat words | sort | grep o | wc > pipeline@",
    "true; false; echo done > done@",
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static const char words[] =
    "tarn\nmountain\nlake\nclear\nwater\nfloor\nkernel\ntrace\nevent\nbuffer\nprocessor\nthread\n"
    "message\nendpoint\nspace\nmemory\nfault\nlock\nclock\nqueue\nserver\nshell\nscript\n"
    "round\nstone\nshadow\nsummit\nvalley\nriver\nmeadow\npath\nbridge\n";

static void die(const char *what)
{
    fprintf(stderr, "sdet: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u; /* Knuth's; sufficient for shuffling */
    return *state >> 16;
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    size_t size = strlen(text);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size)
        die(path);
    close(fd);
}

static void write_command(FILE *script, const char *command, unsigned round)
{
    for (; *command; command++) {
        if (*command == '@')
            fprintf(script, "%u", round);
        else
            putc(*command, script);
    }
    putc('\n', script);
}

static void make_script(unsigned number)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%u", root, number);
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        die(path);
    snprintf(path, sizeof path, "%s/%u/words", root, number);
    write_file(path, words);
    snprintf(path, sizeof path, "%s/%u/script", root, number);
    FILE *script = fopen(path, "w");
    if (!script)
        die(path);
    fprintf(script, "cd %s/%u\n", root, number);
    unsigned order[COMMANDS], seed = number + 1;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < COMMANDS; i++) {
            unsigned j = next_random(&seed) % (i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (unsigned i = 0; i < COMMANDS; i++) {
            write_command(script, commands[order[i]], round);
        }
    }
    fprintf(script, "exit 0\n");
    if (fclose(script) < 0)
        die(path);
}

static pid_t start_script(unsigned number)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%u/script", root, number);
    char *arguments[] = {"sh", path, NULL};
    pid_t pid;
    trace_user_stopwatch_start(number);
    errno = posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ);
    if (errno)
        die("sh");
    return pid;
}

/* Returns how many failed. */
static unsigned run_scripts(pid_t *pids)
{
    unsigned failed = 0;
    for (unsigned i = 0; i < scripts; i++)
        pids[i] = start_script(i);
    for (unsigned left = scripts; left; left--) {
        int status;
        pid_t pid = wait(&status);
        if (pid < 0)
            die("wait");
        for (unsigned i = 0; i < scripts; i++) {
            if (pids[i] == pid)
                trace_user_stopwatch_stop(i, (uint64_t)status);
        }
        failed += status != 0;
    }
    return failed;
}

static void usage(void)
{
    fprintf(stderr,
            "usage: sdet [-n scripts] [-r rounds] [-c cpus] [-k]\n"
            "  -n  number of concurrent scripts, 1..%d (8)\n"
            "  -r  how often each runs its commands (1)\n"
            "  -c  CPUs to use (all)\n"
            "  -k  keep %s\n",
            SCRIPTS_MAX, root);
    exit(2);
}

static unsigned read_number(const char *text, unsigned max)
{
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || *end || value < 1 || value > max)
        usage();
    return (unsigned)value;
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-k"))
            keep = true;
        else if (!strcmp(argv[i], "-n"))
            scripts = read_number(argv[++i], SCRIPTS_MAX);
        else if (!strcmp(argv[i], "-r"))
            rounds = read_number(argv[++i], 10000);
        else if (!strcmp(argv[i], "-c"))
            processors = read_number(argv[++i], 64);
        else
            usage();
    }
}

static void remove_all(void)
{
    char *arguments[] = {"rm", "-rf", (char *)root, NULL};
    pid_t pid;
    errno = posix_spawnp(&pid, "rm", NULL, NULL, arguments, environ);
    if (errno || waitpid(pid, NULL, 0) < 0)
        die("rm");
}

int main(int argc, char **argv)
{
    static pid_t pids[SCRIPTS_MAX];
    read_options(argc, argv);
    remove_all();
    if ((mkdir("/tmp", 0777) < 0 && errno != EEXIST) || mkdir(root, 0777) < 0)
        die(root);
    for (unsigned i = 0; i < scripts; i++)
        make_script(i);
    if (processors && process_set_affinity(processors == 64 ? ~0ull : (1ull << processors) - 1) < 0)
        die("affinity");
    trace_user_mark(1, "sdet begins");
    uint64_t begin = clock_monotonic_ns();
    unsigned failed = run_scripts(pids);
    double seconds = (double)(clock_monotonic_ns() - begin) / 1e9;
    trace_user_mark(2, "sdet ends");
    printf("sdet: %u scripts, %u rounds, %u commands each: %.6f s, %.0f scripts/hour", scripts, rounds,
           rounds * (unsigned)COMMANDS, seconds, scripts * rounds / seconds * 3600);
    printf(failed ? ", %u FAILED\n" : "\n", failed);
    if (!keep)
        remove_all();
    return failed != 0;
}
