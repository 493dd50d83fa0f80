/* regex.h - newlib's <regex.h>, with the types that it expects to be defined. */
#pragma once

#include <sys/types.h>

#include_next <regex.h> /* after the types */
