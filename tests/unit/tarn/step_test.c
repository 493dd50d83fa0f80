/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_test.c - the steps of `tarn goto` on a CPU of QEMU that stores a word and then halts.
 *
 * The program of a few instructions has nothing of Tarn, so it does the same in each build of the kernel.
 * Prints TAP.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tests/tap.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/step.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define WORD 0x508u /* where the program stores */

#define MACHINES  "tests/unit/tarn/halting_machines"
#define WORDS_MAX 40u

#define START_SECONDS 60.0
#define MEMORY_BYTES  (16u << 20)

struct machine {
    char line[1000]; /* holds the words */
    const char *name;
    const char *command[WORDS_MAX + 1];
    size_t count;
};

static struct emulator emulator;

/* Reads the next machine. False: there is none. */
static bool read_machine(struct machine *machine, FILE *file)
{
    do
        if (fgets(machine->line, sizeof(machine->line), file) == NULL)
            return false;
    while (strchr("#\n", machine->line[0]) != NULL);
    machine->name = strtok(machine->line, " \n");
    machine->count = 0;
    for (const char *word; (word = strtok(NULL, " \n")) != NULL && machine->count < WORDS_MAX;)
        machine->command[machine->count++] = word;
    return true;
}

/* QEMU's address of the machine's memory; 0: unknown. */
static uint64_t find_memory(struct fail *fail)
{
    char *said = gdb_client_monitor(&emulator.client, "gpa2hva 0", START_SECONDS, fail);
    const char *at = said != NULL ? strstr(said, " is 0x") : NULL;
    uint64_t base = at != NULL ? strtoull(at + strlen(" is "), NULL, 16) : 0;

    free(said);
    return base;
}

/* Starts it, stopped before its first instruction, with a gdb server. */
static bool start(struct machine *machine)
{
    char server[EMULATOR_PATH_MAX + 40], *words[WORDS_MAX + 10];
    double until = now_seconds() + START_SECONDS;
    struct fail fail = {""};
    size_t n = 0;

    emulator_stop(&emulator);
    unlink(emulator.socket_path);
    snprintf(server, sizeof(server), "unix:%s,server=on,wait=off", emulator.socket_path);
    for (; n < machine->count; n++)
        words[n] = (char *)machine->command[n];
    words[n++] = "-S", words[n++] = "-gdb", words[n++] = server, words[n++] = "-display", words[n++] = "none";
    words[n++] = "-serial", words[n++] = "null", words[n] = NULL;
    emulator.pid = child_start(words, -1, SIGKILL);
    while (emulator.pid > 0 && !gdb_client_open(&emulator.client, emulator.socket_path, &fail) &&
           now_seconds() < until)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    uint64_t base = emulator.pid > 0 && emulator.client.fd >= 0 ? find_memory(&fail) : 0;
    if (base != 0)
        emulator.memory = memory_of_process(emulator.pid, base, MEMORY_BYTES, &fail);
    check(emulator.memory != NULL, "%s: the emulator starts", machine->name);
    if (emulator.memory == NULL)
        printf("# %s\n", fail.text);
    return emulator.memory != NULL;
}

static enum step_end step(struct fail *fail)
{
    fail->text[0] = '\0';
    enum step_end end = step_until_stored(&emulator, 0, WORD, fail);
    if (end == STEP_FAILED)
        printf("# %s\n", fail->text);
    return end;
}

/* Stops the emulator for longer than any step takes. The child ends by itself. */
static void hold_emulator(void)
{
    kill(emulator.pid, SIGSTOP);
    if (fork() == 0) {
        nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
        kill(emulator.pid, SIGCONT);
        _exit(0);
    }
}

static void test_machine(struct machine *machine)
{
    struct fail fail;

    if (!start(machine))
        return;
    uint64_t before = emulator_word(&emulator, WORD);
    check(step(&fail) == STEP_STORED && emulator_word(&emulator, WORD) != before,
          "%s: steps end with the store", machine->name);
    double begin = now_seconds();
    check(step(&fail) == STEP_NEVER, "%s: a CPU that halts never stores", machine->name);
    check(step(&fail) == STEP_NEVER, "%s: nor does one that has halted", machine->name);
    check(now_seconds() - begin < 30, "%s: neither is waited for", machine->name);
    if (!start(machine))
        return;
    hold_emulator();
    check(step(&fail) == STEP_STORED, "%s: a slow emulator is not taken for a halted CPU", machine->name);
    kill(emulator.pid, SIGKILL);
    check(step(&fail) == STEP_FAILED, "%s: an emulator that is killed is a failure", machine->name);
}

int main(void)
{
    static struct machine machine;
    struct fail fail;
    FILE *file = fopen(MACHINES, "re");
    const struct recipe recipe = {
        .kernel.sha256 = "", .archive.sha256 = "", .library.sha256 = "", .emulator = ""};

    if (file == NULL || !emulator_open(&emulator, &recipe, &fail)) {
        printf("Bail out! %s\n", file == NULL ? "cannot read " MACHINES : fail.text);
        return 2;
    }
    while (read_machine(&machine, file))
        test_machine(&machine);
    check(tests_run > 0, "there are machines");
    fclose(file);
    emulator_close(&emulator);
    return finish_tests();
}
