/* utime.h - newlib's <utime.h>, with the types that it expects to be defined. */
#pragma once

#include <sys/types.h>

#include_next <utime.h> /* after the types */
