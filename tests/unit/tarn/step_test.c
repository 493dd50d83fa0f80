/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * step_test.c - the steps of `tarn goto` on a CPU of QEMU that stores a word and then halts.
 *
 * The program of a few instructions has nothing of Tarn, so it does the same in each build of the kernel.
 * Prints TAP.
 */
#include <signal.h>
#include <string.h>
#include <tests/tap.h>
#include <time.h>
#include <tools/tarn/goto/step.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define WORD 0x508u /* where the program stores */

#define MACHINES  "tests/unit/tarn/halting_machines"
#define WORDS_MAX 40u

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

static bool start(struct machine *machine)
{
    struct recipe recipe = {.command = machine->command, .command_count = machine->count};
    struct fail fail;
    bool ok = emulator_start(&emulator, &recipe, &fail);

    check(ok, "%s: the emulator starts", machine->name);
    if (!ok)
        printf("# %s\n", fail.text);
    return ok;
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

    if (file == NULL || !emulator_open(&emulator, &fail)) {
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
