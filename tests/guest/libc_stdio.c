/*
 * libc_stdio.c - what libc-glue adds to newlib without a server: heap, mappings, time, and that results of
 * functions of libm that it has itself are exact where the type can represent them; and what depends on how
 * newlib was built. Files and processes: libc_file.c, libc_process.c.
 */
#include "tap.h"

#include <malloc.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static void test_newlib(void)
{
    char line[200];
    int length = snprintf(line, sizeof(line), "%5d|%-6s|%08.3f|%#lx|%lld|%zu|%c", -42, "ab", 3.14159,
                          0xbeeful, -(1ll << 62), sizeof(long), 'z');
    check(!strcmp(line, "  -42|ab    |0003.142|0xbeef|-4611686018427387904|8|z") && length == 53,
          "snprintf knows widths, floats and 64 bits");
}

static void test_heap(void)
{
    unsigned char *big = malloc(20 << 20), *zero = calloc(1 << 20, 3);
    check(big && zero, "malloc of 20 MiB, calloc of 3 MiB");
    memset(big, 0xa5, 20 << 20);
    uint64_t sum = 0;
    for (size_t i = 0; i < 3 << 20; i++)
        sum += zero[i];
    check(sum == 0, "calloc returns zeros");
    free(zero);
    unsigned char *grown = realloc(big, 30 << 20);
    check(grown && grown[0] == 0xa5 && grown[(20 << 20) - 1] == 0xa5, "realloc keeps contents");
    free(grown ? grown : big);
    errno = 0;
    void *too_much = malloc(1ull << 60);
    check(!too_much && errno == ENOMEM, "too much is ENOMEM");
    free(too_much);
    void *aligned = memalign(4096, 100);
    check(aligned && !((uintptr_t)aligned & 4095), "memalign");
    free(aligned);

    char *map = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(map != MAP_FAILED && map[99999] == 0, "anonymous mmap");
    map[99999] = 1;
    check(munmap(map, 100000) == 0, "munmap");
    check(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 5) == MAP_FAILED && errno == EINVAL,
          "mmap at an odd offset is EINVAL");
}

static void test_time(void)
{
    struct timespec begin, end;
    struct timeval day;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    check(nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL) == 0, "nanosleep");
    clock_gettime(CLOCK_MONOTONIC, &end);
    int64_t ns = (end.tv_sec - begin.tv_sec) * 1000000000ll + end.tv_nsec - begin.tv_nsec;
    check(ns >= 20000000 && ns < 20000000000ll, "lasts what it should");
    time_t before = time(NULL);
    gettimeofday(&day, NULL);
    check(before > 1600000000 && before <= day.tv_sec && day.tv_sec <= time(NULL), "the wall clock is set");
}

static void test_rest(void)
{
    check(getpid() > 0, "getpid");
    check(sysconf(_SC_NPROCESSORS_ONLN) >= 1, "sysconf returns the number of CPUs");
    check(write(77, "x", 1) == -1 && errno == EBADF, "a closed descriptor is EBADF");
    check(sbrk(0) != (void *)-1, "sbrk");
}

/* ---- libm ------------------------------------------------------------------------------------------ */

/* Function pointers, so that neither macros nor the compiler replace the calls. */
static double (*volatile take_log2)(double) = log2;
static float (*volatile take_log2f)(float) = log2f;

static void test_exact(void)
{
    int log_wrong = 0, root_wrong = 0;
    for (int i = -1074; i < 1024; i++) { /* including subnormal ones */
        volatile double x = ldexp(1, i);
        log_wrong += log2(x) != i || take_log2(x) != i;
    }
    for (int i = -149; i < 128; i++) {
        volatile float x = ldexpf(1, i);
        log_wrong += take_log2f(x) != (float)i;
    }
    for (int i = -255; i <= 255; i++)
        root_wrong += cbrtf((float)(i * i * i)) != (float)i;
    check(log_wrong == 0, "log2 and log2f of all powers of two");
    check(root_wrong == 0, "cbrtf of cubes");
}

/* Other results are close: at most two units in the last place from the one computed by log. */
static void test_near(void)
{
    int wrong = 0;
    for (double x = 0x1p-1070; x < 0x1p1020; x *= 1.37) {
        double expected = log(x) / M_LN2;
        wrong += fabs(log2(x) - expected) > 4 * 0x1p-53 * fabs(expected);
    }
    check(wrong == 0, "log2 of other numbers");
    errno = 0;
    check(take_log2(0) == -HUGE_VAL && errno == ERANGE, "log2(0)");
    errno = 0;
    check(isnan(take_log2(-1)) && errno == EDOM, "log2(-1)");
    check(isinf(take_log2(INFINITY)) && isnan(take_log2(NAN)) && isnan(take_log2f(NAN)),
          "log2 of infinity and NaN");
}

int main(void)
{
    test_newlib();
    test_heap();
    test_time();
    test_rest();
    test_exact();
    test_near();
    return finish_tests();
}
