/* builtin.c - commands that must run in the shell itself, in one table. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <user/sh/sh.h>

extern char **environ;

static int do_cd(char **argument, size_t count)
{
    const char *to = count > 1 ? argument[1] : "/";
    if (chdir(to) == 0)
        return 0;
    fprintf(stderr, "cd: %s: %s\n", to, strerror(errno));
    return 1;
}

static int do_pwd(char **argument, size_t count)
{
    (void)argument, (void)count;
    char path[1024];
    if (!getcwd(path, sizeof path)) {
        fprintf(stderr, "pwd: %s\n", strerror(errno));
        return 1;
    }
    puts(path);
    return 0;
}

/* A whole decimal number; -1, with a message of `command`: it is none from `least` to `most`. */
static long read_whole(const char *command, const char *text, long least, long most)
{
    char *end;
    const long number = strtol(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end && number >= least && number <= most)
        return number;
    fprintf(stderr, "%s: %s: not a number from %ld to %ld\n", command, text, least, most);
    return -1;
}

static int do_exit(char **argument, size_t count)
{
    const long status = count > 1 ? read_whole("exit", argument[1], 0, 255) : last_status;
    exit(status < 0 ? 2 : (int)status);
}

static int do_export(char **argument, size_t count)
{
    if (count == 1) {
        for (char **entry = environ; *entry; entry++)
            puts(*entry);
    }
    for (size_t i = 1; i < count; i++) {
        char *equals = strchr(argument[i], '=');
        if (equals) {
            *equals = 0;
            setenv(argument[i], equals + 1, 1);
        }
    }
    return 0;
}

static int do_wait(char **argument, size_t count)
{
    int status = 0;
    if (count == 1) {
        while (wait(&status) > 0)
            ;
        return 0;
    }
    for (size_t i = 1; i < count; i++) {
        const long pid = read_whole("wait", argument[i], 1, INT_MAX);
        if (pid < 0)
            return 2;
        if (waitpid((pid_t)pid, &status, 0) < 0) {
            fprintf(stderr, "wait: %s: %s\n", argument[i], strerror(errno));
            return 127;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int do_source(char **argument, size_t count)
{
    if (count < 2) {
        fprintf(stderr, "usage: . script\n");
        return 2;
    }
    return run_script(argument[1]);
}

static int do_help(char **argument, size_t count);

static const struct {
    const char *name, *help;
    int (*run)(char **argument, size_t count);
} builtins[] = {
    {"cd", "cd [directory]: change the working directory", do_cd},
    {"pwd", "pwd: print the working directory", do_pwd},
    {"exit", "exit [status]: leave the shell", do_exit},
    {"export", "export [NAME=value ...]: set variables, or print all", do_export},
    {"wait", "wait [pid ...]: wait for background processes", do_wait},
    {".", ". script: run a script in this shell", do_source},
    {"help", "help: print this text", do_help},
};
#define BUILTINS (sizeof builtins / sizeof builtins[0])

static int do_help(char **argument, size_t count)
{
    (void)argument, (void)count;
    puts("Programs are in /bin (try: ls /bin). The shell knows | < > >> 2> 2>&1 ; && || & '...' \"...\" "
         "$NAME * ?\n"
         "and these built-in commands:");
    for (size_t i = 0; i < BUILTINS; i++)
        printf("  %s\n", builtins[i].help);
    puts("  grant trace|trace-read|machine[,...] program ...: run a program with this authority; what it "
         "starts "
         "has none\n"
         "poweroff ends the machine (in QEMU, Ctrl-T x does).");
    return 0;
}

static size_t find_builtin(const char *name)
{
    size_t i = 0;
    while (i < BUILTINS && strcmp(name, builtins[i].name))
        i++;
    return i;
}

bool is_builtin(const char *name)
{
    return find_builtin(name) < BUILTINS;
}

int run_builtin(const struct words *words)
{
    size_t i = find_builtin(words->word[0]);
    return i < BUILTINS ? builtins[i].run(words->word, words->count) : 127;
}
