/* system.c - information about the machine. */
#include "call.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

int gethostname(char *name, size_t size)
{
    static const char own[] = "tarn";
    bool fits = size >= sizeof(own);
    if (fits)
        memcpy(name, own, sizeof(own));
    return (int)LIBC_CALL(GETHOSTNAME, name, size, fits ? 0 : -ENAMETOOLONG);
}

int getpagesize(void)
{
    return TARN_PAGE_SIZE;
}

static int64_t query_system(int name)
{
    struct system_stats stats;
    switch (name) {
    case _SC_PAGESIZE:
        return TARN_PAGE_SIZE;
    case _SC_CLK_TCK:
        return CLOCKS_PER_SEC;
    case _SC_OPEN_MAX:
        return 256;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        if (sys_system_read(SYSTEM_STATS, 0, &stats, sizeof(stats)) < (int64_t)sizeof(stats))
            return -EIO;
        return (int64_t)(name == _SC_PHYS_PAGES     ? stats.frames_total
                         : name == _SC_AVPHYS_PAGES ? stats.frames_free
                                                    : stats.cpus);
    default:
        return -EINVAL;
    }
}

long sysconf(int name)
{
    return set_errno(query_system(name));
}

int sched_yield(void)
{
    sys_thread_yield();
    return 0;
}

int sched_getcpu(void)
{
    return (int)arch_thread_block()->cpu;
}

/* There is no trustworthy source of randomness. */
int getentropy(void *buffer, size_t size)
{
    errno = ENOSYS;
    return -1;
}
