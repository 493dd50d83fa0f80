/* stdatomic.h - newlib's <stdatomic.h>, with the types that it expects to be defined. */
#pragma once

#include <stdint.h>

#include_next <stdatomic.h> /* after the types */
