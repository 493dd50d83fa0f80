/* SPDX-License-Identifier: BSD-2-Clause */
/* arch/x86_64/test/clock_stated_test.c - tests rates stated by CPUID and KVM, with values of real machines.
 */
#include "../clock_stated.h"
#include <tests/tap.h>

int main(void)
{
    check(tsc_of_crystal(2, 216, 24000000) == 2592000000, "CPUID 0x15: 24 MHz * 216 / 2");
    check(tsc_of_crystal(1, 104, 19200000) == 1996800000, "CPUID 0x15: 19.2 MHz * 104");
    check(tsc_of_crystal(2, 216, 0) == 0, "CPUID 0x15 without a crystal's rate states nothing");
    check(tsc_of_crystal(0, 216, 24000000) == 0, "CPUID 0x15 with a denominator of 0 states nothing");
    check(tsc_of_base_frequency(2600) == 2600000000, "CPUID 0x16: 2600 MHz");
    check(tsc_of_base_frequency(0xffff0000) == 0, "CPUID 0x16: reserved bits are no frequency");
    /* KVM halves or doubles ticks until the multiplier has 32 bits. */
    uint64_t hz = tsc_of_kvm_clock(3303820997u, -1);
    check(hz > 2599700000 && hz < 2600300000, "KVM's clock: 2.6 GHz");
    hz = tsc_of_kvm_clock(4294967295u, 0);
    check(hz >= 999999999 && hz <= 1000000001, "KVM's clock: 1 GHz");
    hz = tsc_of_kvm_clock(2147483648u, 2);
    check(hz == 500000000, "KVM's clock: 500 MHz");
    check(tsc_of_kvm_clock(0, 0) == 0, "a KVM clock that was not written states nothing");
    check(tsc_of_kvm_clock(1, 100) == 0 && tsc_of_kvm_clock(1, -100) == 0, "an impossible shift is refused");
    return finish_tests();
}
