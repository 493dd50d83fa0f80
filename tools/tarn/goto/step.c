/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/step.c - steps one CPU of a stopped guest through QEMU's gdb server; see step.h. */
#include <stdio.h>
#include <string.h>
#include <tools/tarn/goto/step.h>

#define STEPS_MAX    200000u /* from an event's reservation to its commit; long texts are copied bytewise */
#define LONG_SECONDS 0.5     /* a step takes less than a millisecond on an idle host */
#define STOP_SECONDS 60.0

/* Threads of QEMU's gdb server are the CPUs, counted from 1. */
static bool send_to_cpu(struct emulator *emulator, const char *request, uint32_t cpu, struct fail *fail)
{
    char text[40];

    snprintf(text, sizeof(text), "%s%x", request, cpu + 1);
    return gdb_client_send(&emulator->client, text, fail);
}

/* Appends TEXT to OUT as hexadecimal digits, as QEMU sends it. */
static void put_hex(char *out, const char *text)
{
    for (; *text; text++)
        out += sprintf(out, "%02x", (uint8_t)*text);
}

/* Asks for the description of a thread, which is "CPU#1 [running]" or "CPU#1 [halted ]". */
static bool get_halted(struct emulator *emulator, uint32_t cpu, bool *is_halted, struct fail *fail)
{
    const char *reply = emulator->client.packet;
    char halted[40], running[40];

    put_hex(halted, "[halted ]");
    put_hex(running, "[running]");
    if (!send_to_cpu(emulator, "qThreadExtraInfo,", cpu, fail) ||
        !gdb_client_receive(&emulator->client, fail))
        return false;
    *is_halted = strstr(reply, halted) != NULL;
    return *is_halted || strstr(reply, running) != NULL ||
           fail_set(fail, "QEMU's gdb server does not say whether CPU %u is halted", cpu);
}

/* Executes one instruction, or less when the step is interrupted, which it is after PATIENCE seconds. The CPU
 * is asked only then: a request more for each step would take as long as the step. A CPU that is slow gets
 * more time next. */
static bool step_once(struct emulator *emulator, uint32_t cpu, double *patience, bool *is_halted,
                      struct fail *fail)
{
    struct gdb_client *client = &emulator->client;

    if (!send_to_cpu(emulator, "vCont;s:", cpu, fail))
        return false;
    if (gdb_client_wait_packet(client, *patience))
        return gdb_client_stopped(client, STOP_SECONDS, fail);
    *patience *= 2;
    return gdb_client_interrupt(client, fail) && gdb_client_stopped(client, STOP_SECONDS, fail) &&
           get_halted(emulator, cpu, is_halted, fail);
}

enum step_end step_until_stored(struct emulator *emulator, uint32_t cpu, uint64_t place, struct fail *fail)
{
    uint64_t before = emulator_word(emulator, place);
    double patience = LONG_SECONDS;
    bool is_halted = false;

    for (unsigned i = 0; i < STEPS_MAX && !is_halted; i++) {
        if (!step_once(emulator, cpu, &patience, &is_halted, fail))
            return STEP_FAILED;
        if (emulator_word(emulator, place) != before)
            return STEP_STORED;
    }
    return STEP_NEVER;
}
