/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.h - the rows that a statement gives, whichever engine executes it. */
#ifndef TARN_ANSWER_H
#define TARN_ANSWER_H

#include <stdbool.h>

struct answer {
    unsigned columns;
    void *of;                                                    /* the engine's */
    bool (*next)(struct answer *answer);                         /* false: there is none, or it failed */
    const char *(*name)(struct answer *answer, unsigned column); /* of a column */
    /* Returns the value, valid until the next call; NULL: it has none. *IS_NUMBER: it is one in JSON. */
    const char *(*text)(struct answer *answer, unsigned column, bool *is_number);
};

#endif
