/* write_tau.h - tables of routines as files of TAU. */
#pragma once

#include <tools/tarn/tables/key_names.h>

/* Makes the directory if there is none, and writes a file for each table. False: FAIL. */
bool write_tau(const struct routines *routines, const struct key_names *names, const char *directory,
               struct fail *fail);
