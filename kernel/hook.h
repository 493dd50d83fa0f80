/*
 * hook.h - how code calls a later folder in the kernel's order of use (kernel/README.md) without using it.
 *
 * HOOK declares a function in the folder that calls it; exactly one later folder defines it. The linker
 * connects both, so that the call costs what any call costs: through a pointer it would cost eight
 * instructions more on ppc64, in each span that is observed. As a macro's, the declaration belongs to the
 * caller's folder for tools/lint.
 *
 * LISTEN adds a function to a list that the linker collects, for what several folders wait for (the end of a
 * thread, of a space). The functions are called in the order of their steps: names that begin with a number.
 */
#pragma once

#define HOOK(name, type, ...) type name(__VA_ARGS__)

#define LISTEN(list, step, type, function)                                                                 \
    static type *const list##_##function __attribute__((section("." #list "." #step), used, aligned(8))) = \
        function
