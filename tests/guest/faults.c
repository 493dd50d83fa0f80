/*
 * faults.c - spaces in which all threads fault at the same
 * time. tests/host/one_fault counts the kernel's messages.
 */
#include "child.h"
#include "wait.h"

#define SPACES  20u
#define THREADS 60u

static void fault(uint64_t arg)
{
    while (!*(volatile uint32_t *)CHILD_SHARED)
        ;
    for (;;)
        *(volatile uint32_t *)(CHILD_SHARED + TARN_PAGE_SIZE) = 1; /* nothing is mapped there */
}

/* Makes a space whose threads all fault at the same word. */
static void let_fault(cap_t memory, volatile uint32_t *go)
{
    struct child child;
    *go = 0;
    must(child_create(&child, "faulty"));
    child_map(&child, memory, CHILD_SHARED, TARN_PAGE_SIZE, MAP_READ);
    for (unsigned i = 0; i < THREADS; i++)
        must(child_start(&child, fault, 0));
    printf("faults: pid %d\n", (int)sys_space_info(child.space));
    fflush(stdout);
    *go = 1;
    while (sys_space_info(child.space) != -E_DEAD)
        sys_thread_sleep(deadline_after(1000000));
    sys_cap_close(child.space);
}

int main(void)
{
    const cap_t memory = must(sys_memory_create(TARN_PAGE_SIZE));
    volatile uint32_t *go = memory_map(memory, TARN_PAGE_SIZE, MAP_READ | MAP_WRITE);
    child_prepare();
    for (unsigned i = 0; i < SPACES; i++)
        let_fault(memory, go);
    return 0;
}
