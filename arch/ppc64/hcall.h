/*
 * arch/ppc64/hcall.h - calls to the hypervisor (LoPAPR 14.5): `sc 1`, number and results from r3 on.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum hcall {
    H_GET_TERM_CHAR = 0x54,
    H_PUT_TERM_CHAR = 0x58,
    H_EOI = 0x64,
    H_CPPR = 0x68,
    H_IPI = 0x6c,
    H_XIRR = 0x74,
    H_REGISTER_VPA = 0xdc,
    H_CEDE = 0xe0,
    H_PROD = 0xe8,
    H_SET_MODE = 0x31c,
    H_REGISTER_PROC_TBL = 0x37c,
    H_SIGNAL_SYS_RESET = 0x380,
    H_RTAS = 0xf000, /* QEMU's own: RTAS without firmware code in the guest */
};

enum hcall_status { H_SUCCESS = 0, H_BUSY = 1 };

#define HCALL_RESULTS 4

/* results: NULL, or space for HCALL_RESULTS words, r4 first. */
static inline int64_t hcall(enum hcall function, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                            uint64_t *results)
{
    register uint64_t r3 __asm__("r3") = function;
    register uint64_t r4 __asm__("r4") = a;
    register uint64_t r5 __asm__("r5") = b;
    register uint64_t r6 __asm__("r6") = c;
    register uint64_t r7 __asm__("r7") = d;
    __asm__ volatile("sc 1"
                     : "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                     :
                     : "r0", "r8", "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7",
                       "memory");
    if (results) {
        results[0] = r4;
        results[1] = r5;
        results[2] = r6;
        results[3] = r7;
    }
    return (int64_t)r3;
}
