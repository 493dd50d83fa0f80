/* arch/x86_64/vectors.h - interrupt vectors. */
#pragma once

#define VECTOR_NMI           2
#define VECTOR_BREAKPOINT    3
#define VECTOR_DOUBLE_FAULT  8
#define VECTOR_PAGE_FAULT    14
#define VECTOR_MACHINE_CHECK 18

#define VECTOR_IRQ_FIRST 32  /* + irq number: lines, then messages; ARCH_IRQ_COUNT of them */
#define VECTOR_IPI_FIRST 224 /* + enum ipi_kind */
#define VECTOR_TIMER     240 /* local timer; highest, so arch_window_open can let it alone pass */
#define VECTOR_SPURIOUS  255
