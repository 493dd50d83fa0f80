/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.c - spaces in which all threads fault at the same
 * time. tests/host/one_fault counts the kernel's messages.
 */
#include "child.h"
#include "wait.h"

#include <stdio.h>

#define SPACES  20u
#define THREADS 60u
#define SHARED  0x0000000900000000ull

static void fault(uint64_t arg)
{
    while (!*(volatile uint32_t *)SHARED)
        ;
    for (;;)
        *(volatile uint32_t *)(SHARED + TARN_PAGE_SIZE) = 1; /* nothing is mapped there */
}

/* Makes a space whose threads all fault at the same word. Returns false if it could not be made. */
static bool let_fault(cap_t memory, volatile uint32_t *go)
{
    struct child child;
    *go = 0;
    if (child_create(&child, "faulty") ||
        sys_space_map(child.space, memory, SHARED, TARN_PAGE_SIZE, 0, MAP_READ | MAP_FIXED) < 0)
        return false;
    for (unsigned i = 0; i < THREADS; i++)
        if (child_start(&child, fault, 0))
            return false;
    printf("faults: pid %d\n", (int)sys_space_info(child.space));
    fflush(stdout);
    *go = 1;
    while (sys_space_info(child.space) != -E_DEAD)
        sys_thread_sleep(deadline_after(1000000));
    sys_cap_close(child.space);
    return true;
}

int main(void)
{
    int64_t memory = sys_memory_create(TARN_PAGE_SIZE);
    volatile uint32_t *go = memory_map((cap_t)memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    child_prepare();
    for (unsigned i = 0; i < SPACES; i++)
        if (!let_fault((cap_t)memory, go))
            return 1;
    return 0;
}
