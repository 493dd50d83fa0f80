/* math.h - newlib's <math.h> without its macro for log2, which is inexact: see libc-glue/math/exact.c. */
#pragma once

#include_next <math.h>
#undef log2
