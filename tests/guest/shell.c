/* SPDX-License-Identifier: BSD-2-Clause */
/* shell.c - the shell as its users see it: built-in commands in pipelines, and scripts by name. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tarn/runtime.h>
#include <unistd.h>

#define SCRIPT "/tmp/script"
#define OUTPUT "/tmp/output"

extern char **environ;
static char output[8192];
static uint32_t handed; /* to what `run` starts: a set of servers/protocol/authority.def */

/* Returns the exit status of a program, or -errno of the spawn; its output is in `output`. */
static int run(const char *path, char *const arguments[])
{
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, OUTPUT, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setauthority_np(&attributes, handed);
    int error = posix_spawn(&pid, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    waitpid(pid, &status, 0);
    int file = open(OUTPUT, O_RDONLY);
    ssize_t size = read(file, output, sizeof output - 1);
    close(file);
    output[size > 0 ? size : 0] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static int shell(const char *command)
{
    return run("/bin/sh", (char *[]){"sh", "-c", (char *)command, NULL});
}

static void write_file(const char *path, const char *text, size_t size)
{
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0755);
    if (write(file, text, size) != (ssize_t)size)
        printf("# cannot write %s\n", path);
    close(file);
}

static bool says(int status, int expected_status, const char *expected)
{
    bool same = status == expected_status && !strcmp(output, expected);
    if (!same)
        printf("# status %d, output: %s\n", status, output);
    return same;
}

static void test_pipelines(void)
{
    check(says(shell("NAME=value ; export | grep ^NAME="), 0, "NAME=value\n"), "export | grep");
    check(shell("help | wc -l") == 0 && atoi(output) > 5, "help | wc");
    check(says(shell("cd /bin | cat ; pwd"), 0, "/\n"),
          "cd in a pipeline does not change the shell's directory");
    check(says(shell("cd /bin ; pwd | cat"), 0, "/bin\n"), "the shell's directory applies in a pipeline");
    check(says(shell("true | cd nowhere"), 1, "cd: nowhere: No such file or directory\n"),
          "a pipeline ends with its last command's status");
    check(says(shell("false ; true | exit $?"), 1, "") && says(shell("false ; true | exit"), 1, ""),
          "exit in a pipeline ends only that part, with its status");
    check(says(shell("true & wait one"), 2, "wait: one: not a number from 1 to 2147483647\n") &&
              says(shell("exit 3x"), 2, "exit: 3x: not a number from 0 to 255\n"),
          "exit and wait refuse what is no number");
    write_file(SCRIPT, "echo $1 $#\n", 11);
    write_file("/tmp/outer", ". " SCRIPT " | cat\n", strlen(". " SCRIPT " | cat\n"));
    check(says(run("/bin/sh", (char *[]){"sh", "/tmp/outer", "one", NULL}), 0, "one 1\n"),
          "arguments of a script reach a part of its pipeline");
}

static void test_patterns(void)
{
    shell("mkdir /tmp/g1 /tmp/g2 ; echo > /tmp/g2/y.c ; echo > /tmp/g1/x.c");
    check(says(shell("cd /tmp ; echo g?/*.c ../tmp/g*/ /*/g2/y.? g*/none 'g?'/x.c"), 0,
               "g1/x.c g2/y.c ../tmp/g1/ ../tmp/g2/ /tmp/g2/y.c g*/none g?/x.c\n"),
          "patterns match in each component of a path");
    shell("rm /tmp/g?/*.c ; rmdir /tmp/g1 /tmp/g2");
}

static int run_script(const char *text)
{
    write_file(SCRIPT, text, strlen(text));
    return run(SCRIPT, (char *[]){"script", "a b", "c", NULL});
}

static void test_scripts(void)
{
    check(says(run_script("#!/bin/sh\necho $0 : $1 : $2\n"), 0, SCRIPT " : a b : c\n"),
          "a script is started by name");
    check(says(run_script("#!/bin/echo one  two \n"), 0, "one  two " SCRIPT " a b c\n"),
          "with any interpreter, and its argument");
    check(run_script("#!/bin/nowhere\n") == -ENOENT, "a missing interpreter is ENOENT");
    check(run_script("#!nowhere\n") == -ENOEXEC && run_script("no script\n") == -ENOEXEC,
          "an invalid or missing #! line is ENOEXEC");
    check(run_script("#!" SCRIPT "\n") == -ELOOP, "a script cannot be its own interpreter");
    char name[32], text[64];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "/tmp/nested%d", i);
        snprintf(text, sizeof text, i ? "#!/tmp/nested%d\n" : "#!/bin/echo\n", i - 1);
        write_file(name, text, strlen(text));
    }
    check(says(run("/tmp/nested3", (char *[]){"x", NULL}), 0,
               "/tmp/nested0 /tmp/nested1 /tmp/nested2 /tmp/nested3\n"),
          "four interpreters in a row");
    check(run("/tmp/nested4", (char *[]){"x", NULL}) == -ELOOP, "but not five");
}

static void test_shell_starts_scripts(void)
{
    write_file(SCRIPT, "#!/bin/sh\necho by name $1\n", 26);
    check(says(shell(SCRIPT " now"), 0, "by name now\n"), "the shell starts a script");
    write_file(SCRIPT, "echo text $1\nexit 5\n", 20);
    check(says(shell(SCRIPT " now"), 5, "text now\n"), "also without #!");
    check(says(shell("PATH=/tmp:/bin ; script there"), 5, "text there\n"), "also by PATH");
    write_file(SCRIPT, "\1\0\2\n", 4);
    check(says(shell(SCRIPT), 127, "sh: " SCRIPT ": Exec format error\n"), "but not a binary file");
    write_file(SCRIPT, "#!/bin/nowhere\n", 15);
    check(says(shell(SCRIPT), 127, "sh: " SCRIPT ": the interpreter in its first line does not exist\n"),
          "it reports a missing interpreter");
    check(says(shell("nowhere"), 127, "sh: nowhere: no such program\n"), "and a missing program");
}

/* /tmp/trace is a program without a label that needs authority over the trace. */
static void test_grant(void)
{
    check(shell("cp /bin/trace /tmp/trace ; /tmp/trace statedump") == 1, "an ordinary program is refused");
    check(shell("grant trace /tmp/trace statedump") == 127 && strstr(output, "does not hold"),
          "a shell cannot grant what it does not hold");
    handed = 1; /* trace */
    check(shell("/tmp/trace statedump") == 1, "a shell does not pass on what it holds");
    check(shell("grant trace /tmp/trace statedump") == 0, "unless it grants it");
    check(shell("grant trace /tmp/trace statedump | wc -l ; /tmp/trace statedump") == 1, "to one command");
    write_file(SCRIPT, "/tmp/trace statedump\n", 21);
    check(shell("grant trace sh " SCRIPT) == 1 && shell("grant trace " SCRIPT) == 1,
          "and not to its children");
    write_file(SCRIPT, "grant trace /tmp/trace statedump\n", 33);
    check(shell("grant trace " SCRIPT) == 0, "which it can grant it in turn");
    check(shell("grant trace-read /tmp/trace statedump") == 1 && shell("grant machine true") == 127,
          "it can grant less than it holds, and not more");
    check(shell("grant trace-read ps | grep ' ps '") == 0 && strstr(output, " trace-read\n") &&
              shell("ps | grep ' proc '") == 0 && strstr(output, " trace machine\n"),
          "ps shows who holds what");
    check(shell("grant everything true") == 2 && shell("grant trace") == 2 && strstr(output, "usage: grant"),
          "an unknown name and a missing command are refused");
    handed = 0;
}

int main(void)
{
    test_grant();
    test_pipelines();
    test_patterns();
    test_scripts();
    test_shell_starts_scripts();
    return finish_tests();
}
