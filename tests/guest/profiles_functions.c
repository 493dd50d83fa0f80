/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_functions.c - compiled with -finstrument-functions. Interface: profiles_functions.h. */
#include <tarn/syscall.h>
#include <tests/guest/profiles_functions.h>

void __attribute__((noinline)) instrumented(unsigned number)
{
    (void)number;
    sys_null();
}

__attribute__((no_instrument_function)) uintptr_t function_address(void)
{
    return (uintptr_t)instrumented;
}
