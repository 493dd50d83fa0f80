/* SPDX-License-Identifier: BSD-2-Clause */
/* tap.h - results of tests in the guest, and how often they repeat themselves. */
#ifndef USER_TEST_TAP_H
#define USER_TEST_TAP_H

#include <tests/tap.h>

/* Rounds of a test. With the exploring kernel a round takes longer, and fewer are enough: threads meet more
 * often. */
#ifdef TARN_EXPLORE
#define REPEATS(count) ((count) / 20)
#else
#define REPEATS(count) (count)
#endif

#endif
