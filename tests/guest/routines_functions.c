/* routines_functions.c - compiled with -finstrument-functions. Interface: routines_functions.h. */
#include <tarn/syscall.h>
#include <tests/guest/routines_functions.h>

void __attribute__((noinline)) instrumented(unsigned number)
{
    (void)number;
    sys_null();
}

__attribute__((no_instrument_function)) uintptr_t function_address(void)
{
    return (uintptr_t)instrumented;
}
