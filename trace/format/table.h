/*
 * trace/format/table.h - tables of counters beside each CPU's ring: how a table and its rows lie in memory.
 * FORMAT.md, "Tables", explains them, trace/schema declares them. Everything is 64-bit words in the byte
 * order of the machine:
 *
 *     head    TRACE_TABLE_HEAD_WORDS words: enum trace_table_head_word, the others 0
 *     rows    each: begun, tag, the keys, the columns, ended (enum trace_row_word; `ended` is the last word)
 *
 * Every program can write here, so a reader bounds everything by the declaration, never by what it reads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRACE_TABLE_HEAD_WORDS      8u
#define TRACE_TABLE_PROBES          16u
/* How many rows of a hashed table may be taken: in a fuller one, searches are long. */
#define TRACE_TABLE_ROWS_USED(rows) ((rows) - (rows) / 4)
#define TRACE_TABLE_KEYS_MAX        4u
#define TRACE_TABLE_COLUMNS_MAX     24u  /* keys included */
#define TRACE_TABLE_ROW_WORDS_MAX   256u /* a row */
#define TRACE_TABLE_BUCKETS         32u  /* of a histogram */

enum trace_table_head_word {
    TRACE_TABLE_NO_SPACE = 0, /* updates that found no row, and were lost */
    TRACE_TABLE_USED = 1,     /* rows in use; about: a thread that is killed may not have counted its row */
    TRACE_TABLE_MOVED = 2,    /* rows that were moved */
    TRACE_TABLE_MOVES_BEGUN = 3, /* of all tables of the area; in the first one only */
};
/* Behind the last table: TRACE_TABLES_TAIL_WORDS words, the first counts moves that have ended. */
#define TRACE_TABLES_TAIL_WORDS 8u

/* The key of a row of the ended. No key of 32 bits has this value. */
#define TRACE_KEY_ENDED UINT64_MAX

/* A key's owner; when it has ended, the kernel moves the row. */
enum trace_key_owner {
    TRACE_OWNER_NONE,    /* none: the row of the ended keeps this key */
    TRACE_OWNER_PROCESS, /* a process; 0: the kernel */
    TRACE_OWNER_LOCK,    /* a lock's address; its class is the next key */
    TRACE_OWNER_PLACE,   /* an address in the process of another key */
};

enum trace_row_word {
    TRACE_ROW_BEGUN = 0, /* updates begun */
    TRACE_ROW_TAG = 1,
    TRACE_ROW_KEYS = 2, /* the first key */
};

enum trace_column_kind {
    TRACE_COLUMN_KEY,
    TRACE_COLUMN_COUNT,     /* a sum of occurrences */
    TRACE_COLUMN_SUM,       /* a sum of values in `unit` */
    TRACE_COLUMN_MAX,       /* the largest value */
    TRACE_COLUMN_MIN,       /* the smallest value; only in private tables */
    TRACE_COLUMN_HISTOGRAM, /* TRACE_TABLE_BUCKETS words: trace_table_bucket() */
};

/* How the generator's table describes them; constant. */
struct trace_column_info {
    const char *name, *description;
    const char *unit; /* ticks, bytes, instructions; "": none */
    uint8_t kind;     /* enum trace_column_kind */
    bool is_hex;      /* a key to print in hexadecimal */
    uint16_t word;    /* of a row: the first */
    uint16_t words;
    uint8_t owner; /* enum trace_key_owner of a key; readers outside do not know it */
};

struct trace_table_info {
    const char *name, *description; /* NULL, in the entry behind the last one */
    uint32_t number;
    uint32_t offset; /* bytes from TRACE_TABLES_OFFSET to the head */
    uint32_t rows, row_words;
    bool is_hashed;
    bool is_private; /* rows lie elsewhere (trace/format/routine.h): 0 in this area */
    uint8_t key_count;
    uint16_t column_count; /* keys included; they come first */
    const struct trace_column_info *columns;
    const struct trace_table_info *adds; /* the table whose rows readers add to this one's; NULL: none */
    uint8_t adds_key;                    /* which of its keys is this table's */
    uint32_t moves_ended; /* bytes from TRACE_TABLES_OFFSET to that count; 0: nothing is moved */
};

/* Never 0. Keys with the same tag are taken for the same: it has 64 bits. A sum of products by odd numbers,
 * whose bits are then mixed as in MurmurHash3. */
static inline uint64_t trace_table_tag(const uint64_t *keys, unsigned count)
{
    static const uint64_t factors[TRACE_TABLE_KEYS_MAX] = {0xff51afd7ed558ccdull, 0xc4ceb9fe1a85ec53ull,
                                                           0x9e3779b97f4a7c15ull, 0xd6e8feb86659fd93ull};
    uint64_t hash = count;
#pragma GCC unroll 4 /* TRACE_TABLE_KEYS_MAX: keys stay in registers */
    for (unsigned i = 0; i < count; i++)
        hash += keys[i] * factors[i];
    hash = (hash ^ hash >> 33) * factors[0];
    hash ^= hash >> 33;
    return hash ? hash : 1;
}

/* Bucket b has the values with that binary logarithm, rounded down; 0 is in bucket 0, and all from 2^31 on in
 * the last. */
static inline unsigned trace_table_bucket(uint64_t value)
{
    const unsigned log = 63u - (unsigned)__builtin_clzll(value | 1);
    return log < TRACE_TABLE_BUCKETS ? log : TRACE_TABLE_BUCKETS - 1;
}
