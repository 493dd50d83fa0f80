/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * short_turns.c - a plugin for QEMU that makes a deterministic machine's vCPUs take short turns, and counts
 * the instructions of the longest turn of each round.
 *
 *     -plugin short_turns.so,turn=N,out=FILE
 *
 * A machine whose clock counts instructions has one vCPU run at a time, until it waits, executes `pause`
 * (x86_64) or `or 27,27,27` (ppc64), or a timer is due. Turns are then so long that CPUs hardly ever meet.
 * With this plugin a turn ends after N instructions, at the end of a translated block, so the vCPUs advance
 * side by side. The run still repeats itself.
 *
 * At the end FILE gets `total T parallel P`: the instructions of all vCPUs, and the sum over all rounds of
 * the longest turn, which is the time that they would take if they ran at the same time, one instruction at a
 * time. A CPU that waits in `pause` is counted with the few instructions of its turn. Times in which all
 * sleep are not counted.
 *
 * Debian's QEMU has the interface without its header, so what is used is declared here; qemu_get_cpu and
 * cpu_exit are functions that QEMU exports for modules. One thread runs all vCPUs of such a machine, so
 * nothing is locked.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX         64
#define PLUGIN_API       1
#define NO_REGISTERS     0
#define EXPORT           __attribute__((visibility("default")))
#define TURN_MAX_DEFAULT 50

struct qemu_plugin_tb;
extern EXPORT int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_API;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned, void *),
                                          int flags, void *data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void *), void *data);
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

static void *(*get_cpu)(int);
static void (*end_turn)(void *cpu);
static void *cpus[CPUS_MAX];

static uint64_t turn_max = TURN_MAX_DEFAULT;
static uint64_t total, parallel;
static uint64_t turn, longest; /* instructions: of this turn; of the longest in this round */
static unsigned last;          /* whose turn it is */
static bool is_ended;          /* its end was requested */
static char path[512];

static void begin_turn(unsigned cpu)
{
    if (cpu <= last) {
        parallel += longest;
        longest = 0;
    }
    last = cpu;
    turn = 0;
    is_ended = false;
}

/* A block is about to be executed. */
static void execute(unsigned cpu, void *instructions)
{
    if (cpu != last || is_ended)
        begin_turn(cpu);
    turn += (uintptr_t)instructions;
    total += (uintptr_t)instructions;
    longest = turn > longest ? turn : longest;
    if (turn < turn_max || cpu >= CPUS_MAX)
        return;
    is_ended = true;
    if (cpus[cpu] == NULL)
        cpus[cpu] = get_cpu((int)cpu);
    end_turn(cpus[cpu]);
}

static void translate(uint64_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, execute, NO_REGISTERS,
                                         (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void write_result(uint64_t id, void *data)
{
    FILE *file = fopen(path, "w");

    (void)id, (void)data;
    if (file == NULL) {
        perror(path);
        return;
    }
    fprintf(file, "total %llu parallel %llu\n", (unsigned long long)total,
            (unsigned long long)(parallel + longest));
    fclose(file);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "turn=", 5) == 0)
            turn_max = strtoull(argv[i] + 5, NULL, 10);
        else if (strncmp(argv[i], "out=", 4) == 0)
            snprintf(path, sizeof(path), "%s", argv[i] + 4);
    }
    *(void **)&get_cpu = dlsym(RTLD_DEFAULT, "qemu_get_cpu");
    *(void **)&end_turn = dlsym(RTLD_DEFAULT, "cpu_exit");
    if (get_cpu == NULL || end_turn == NULL || path[0] == '\0') {
        fprintf(stderr, "short_turns: needs out=FILE, and a QEMU that exports qemu_get_cpu and cpu_exit\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, write_result, NULL);
    return 0;
}
