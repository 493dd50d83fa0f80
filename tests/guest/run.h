/* run.h - programs that a test starts, and what they print. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts a program, given by its path or found in PATH, with these words. Returns its pid, or -errno. */
static inline pid_t start_words(const char *const words[], const posix_spawn_file_actions_t *actions,
                                const posix_spawnattr_t *attributes)
{
    pid_t pid;
    const int error = posix_spawnp(&pid, words[0], actions, attributes, (char *const *)words, environ);
    return error ? -error : pid;
}
#define WORDS(...)         ((const char *const[]){__VA_ARGS__, NULL})
#define start_program(...) start_words(WORDS(__VA_ARGS__), NULL, NULL)

/* Waits for a program. Returns its status as waitpid has it; -1: there is no such program. */
static inline int status_of(pid_t pid)
{
    int status = -1;
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}
#define run_program(...) status_of(start_program(__VA_ARGS__))

/* The beginning of what it printed, errors too, as a text. Returns its exit status, or -errno. */
static inline int run_and_read(const char *const words[], const posix_spawnattr_t *attributes, char *text,
                               size_t bytes)
{
    static const char output[] = "/tmp/run.output";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    const pid_t pid = start_words(words, &actions, attributes);
    posix_spawn_file_actions_destroy(&actions);
    const int status = status_of(pid), file = open(output, O_RDONLY);
    size_t size = 0;
    for (ssize_t got; (got = read(file, text + size, bytes - 1 - size)) > 0;)
        size += (size_t)got;
    close(file);
    text[size] = 0;
    return pid < 0 ? pid : WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static inline bool copy_file(const char *from, const char *to)
{
    static char bytes[4096];
    const int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0755);
    ssize_t got = -1;
    while (in >= 0 && out >= 0 && (got = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)got) != got)
            break;
    close(in);
    close(out);
    return got == 0;
}
