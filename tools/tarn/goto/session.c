/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/session.c - starts gdb on a stopped machine; see session.h. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/session.h>
#include <unistd.h>

#define BEFORE_TEXT "70" /* exit status of gdb after SESSION_BEFORE */
#define WORDS_MAX   (2 * SESSION_COMMANDS_MAX + 20)

bool session_find(const char *name, char path[PATH_MAX], struct fail *fail)
{
    char tarn[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", tarn, sizeof(tarn) - 1);

    tarn[length > 0 ? length : 0] = '\0';
    for (unsigned up = 0; up < 3; up++) {
        char *slash = strrchr(tarn, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    if (snprintf(path, PATH_MAX, "%s/%s", tarn, name) < PATH_MAX && access(path, R_OK) == 0)
        return true;
    return fail_set(fail, "%s does not exist: this needs the source tree in which tarn was built", path);
}

bool session_gdb(struct emulator *emulator, const struct recipe *recipe, uint32_t cpu, char *const commands[],
                 unsigned count, bool *wants_before, struct fail *fail)
{
    char script[PATH_MAX], root[PATH_MAX], sources[PATH_MAX + 20], remote[EMULATOR_PATH_MAX + 40], thread[40];
    char *words[WORDS_MAX] = {"gdb-multiarch", "-nx", "-q", "-iex", "set confirm off", "-iex", sources};
    unsigned n = 7;

    if (!session_find("tools/gdb/tarn.py", script, fail) || !session_find(".", root, fail))
        return false;
    snprintf(sources, sizeof(sources), "directory %s", root); /* compiled with names from there on */
    snprintf(remote, sizeof(remote), "target remote %s", emulator->socket_path);
    snprintf(thread, sizeof(thread), "thread %u", cpu + 1);
    if (count > 0)
        words[n++] = "-batch";
    words[n++] = "-x", words[n++] = script, words[n++] = (char *)recipe->kernel.path;
    words[n++] = "-ex", words[n++] = remote, words[n++] = "-ex", words[n++] = thread;
    words[n++] = "-ex", words[n++] = "tarn program";
    for (unsigned i = 0; i < count; i++)
        words[n++] = "-ex", words[n++] = commands[i];
    setenv("TARN_GOTO_BEFORE", BEFORE_TEXT, 1);
    void (*before)(int) = signal(SIGINT, SIG_IGN); /* it is for gdb, which is asked to end at its
                                                      prompt, so that it restores the terminal */
    pid_t gdb = child_start(words, -1, count > 0 ? SIGKILL : SIGTERM);
    int status = gdb > 0 ? child_wait(gdb) : -1;
    signal(SIGINT, before);
    *wants_before = status == atoi(BEFORE_TEXT);
    return status == 0 || *wants_before ||
           fail_set(fail, status == CHILD_NOT_STARTED ? "cannot start gdb-multiarch; `make deps` installs it"
                                                      : "gdb ended with an error");
}
