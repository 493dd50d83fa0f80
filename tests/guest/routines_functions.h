/* routines_functions.h - functions that are compiled with -finstrument-functions, for routines_program.c. */
#pragma once

#include <stdint.h>

void instrumented(unsigned number); /* makes one system call */
uintptr_t function_address(void);   /* of the code of instrumented(), as it is counted */
