/* cpu.c - the data of all CPUs; see cpu.h. */
#include <kernel/cpu/cpu.h>

struct cpu cpus[CPUS_MAX];
uint32_t cpu_count = 1;
void (*cpu_spins)(void);
