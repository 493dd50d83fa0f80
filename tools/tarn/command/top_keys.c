/* SPDX-License-Identifier: BSD-2-Clause */
/* top_keys.c - the keys that `tarn top` has for a trace and for tables; see top.h. */
#include <tools/tarn/command/top.h>

bool top_take_key(struct top *top, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case '+':
        top->interval = top->interval < 60 ? 2 * top->interval : top->interval;
        break;
    case '-':
        top->interval = top->interval > 0.01 ? top->interval / 2 : top->interval;
        break;
    case ' ':
        top->is_paused = !top->is_paused;
        break;
    case 'h':
    case '?':
        top->has_help = !top->has_help;
        break;
    default:
        break;
    }
    return true;
}
