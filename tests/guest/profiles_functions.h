/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_functions.h - functions that are compiled with -finstrument-functions, for profiles_program.c. */
#ifndef PROFILES_FUNCTIONS_H
#define PROFILES_FUNCTIONS_H

#include <stdint.h>

void instrumented(unsigned number); /* makes one system call */
uintptr_t function_address(void);   /* of the code of instrumented(), as it is counted */

#endif
