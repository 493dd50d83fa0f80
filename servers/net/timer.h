/* SPDX-License-Identifier: BSD-2-Clause */
/* timer.h - signals the server when lwIP's next timer is due. */
#ifndef NET_TIMER_H
#define NET_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <tarn/abi.h>

bool start_timer(cap_t notification);  /* receives NET_BIT_TIMER */
void arm_timer(uint32_t milliseconds); /* from now */

#endif
