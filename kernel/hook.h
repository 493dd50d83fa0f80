/*
 * hook.h - how code calls a later folder in the kernel's order of use (kernel/README.md) without using it.
 *
 * HOOK declares, in the folder that calls it, a function that one later folder defines. The linker connects
 * both: through a pointer the call would cost eight instructions more on ppc64, in each observed span.
 *
 * LISTEN adds a function to a list that the linker collects, for what several folders wait for (the end of a
 * thread). They are called in the order of their steps, names that begin with a number.
 */
#pragma once

#define HOOK(name, type, ...) type name(__VA_ARGS__)

#define LISTEN(list, step, type, function)                                                                 \
    static type *const list##_##function __attribute__((section("." #list "." #step), used, aligned(8))) = \
        function
