/* arch/list_site.S - to be included: lists the site at the local label 0, that jumps to `target`, as a struct
 * trace_site; what ARCH_TRACE_LIST_SITE is in C (<arch/trace.h>). */
.macro LIST_SITE target, id
        .pushsection .trace_sites, "a", @progbits
        .balign 4
        .long   0b - .
        .long   \target - .
        .long   \id
        .popsection
.endm
