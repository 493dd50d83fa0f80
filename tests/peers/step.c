/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/peers/step.c - see step.h. */
#include "step.h"
#include <port/step.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile bool is_on;
static host_visit_step *visitor;

static void on_begin(int number, siginfo_t *info, void *context)
{
    port_host_step(context, true);
}

static void on_step(int number, siginfo_t *info, void *context)
{
    if (is_on)
        visitor(port_host_ip(context), context);
    else
        port_host_step(context, false);
}

static struct rseq *own_area(void)
{
    return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void restart_blocks(bool on)
{
    const int cpu = sched_getcpu();
    if (syscall(SYS_rseq, own_area(), sizeof(struct rseq), on ? 0 : RSEQ_FLAG_UNREGISTER, RSEQ_SIG)) {
        perror("rseq");
        exit(2);
    }
    if (!on) /* Linux has said that there is none */
        own_area()->cpu_id = own_area()->cpu_id_start = (uint32_t)cpu;
}

void host_step(void (*function)(void), host_visit_step *visit)
{
    struct sigaction begin = {.sa_sigaction = on_begin, .sa_flags = SA_SIGINFO}, step = begin;
    step.sa_sigaction = on_step;
    sigaction(SIGUSR2, &begin, NULL);
    sigaction(SIGTRAP, &step, NULL);
    visitor = visit;
    restart_blocks(false);
    is_on = true;
    raise(SIGUSR2);
    function();
    is_on = false;
    restart_blocks(true);
}
