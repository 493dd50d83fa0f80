/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_make.h - makes guest memory for tests: store, info page, metadata and rings, in either byte order,
 * at addresses that only the store contains.
 */
#ifndef TARN_TEST_GUEST_MAKE_H
#define TARN_TEST_GUEST_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format/store.h>

#define MAKE_BYTES        (4u << 20) /* of memory */
#define MAKE_CPUS         2u
#define MAKE_BUFFER_BYTES (16u << 10)
#define MAKE_BUFFERS      4u
/* number of the oldest packet; the newest one, which is open, is MAKE_FIRST + 3 */
#define MAKE_FIRST        3u
#define MAKE_EVENTS       100u
#define MAKE_INFO_AT      0x1000u
#define MAKE_STORE_AT     0x100000u

struct made {
    uint8_t *ram; /* MAKE_BYTES */
    bool big;     /* byte order */
    uint64_t store_at;
    uint64_t base;      /* physical address of ram[0] */
    uint64_t ring_base; /* the same for the rings, which may be elsewhere */
    bool has_tables;    /* of counters, beside each ring */
};

enum made_state { MADE_WHOLE, MADE_OPEN, MADE_TORN };

/* Makes memory as it is after boot and some logging; `ram` is the caller's. */
void make_guest(struct made *made);
void make_store(struct made *made, uint32_t age);
void seal_store(struct made *made); /* recomputes the checksum */
/* Makes packet NUMBER: MAKE_EVENTS events whose fields are made_id() and its complement. TORN: the words of
 * the event in the middle were never written. */
void make_packet(struct made *made, uint32_t cpu, uint64_t number, enum made_state state);
void make_index(struct made *made, uint32_t cpu, uint64_t index);
uint64_t made_id(uint32_t cpu, uint64_t number, uint32_t event);
/* Return addresses in `ram`. */
uint8_t *made_control(struct made *made, uint32_t cpu);
uint8_t *made_packet(struct made *made, uint32_t cpu, uint64_t number);
uint8_t *made_store(struct made *made);
/* TRACE_TABLES_BYTES, of which the second half lies in front of the first: WORD counts from the tables'
 * start. */
uint8_t *made_table_word(struct made *made, uint32_t cpu, uint64_t word);

void put32(const struct made *made, void *at, uint32_t value);
void put64(const struct made *made, void *at, uint64_t value);
uint64_t get64(const struct made *made, const void *at);

/* Write a file: memory as it is, or an ELF core of it with two segments. */
void write_file(const char *path, const void *bytes, size_t size);
void write_core(const char *path, const struct made *made);
/* The same, mapped: what is written there, a source `ram:PATH` sees. MAKE_BYTES, to be unmapped by the
 * caller. */
uint8_t *share_file(const char *path, const struct made *made);

#endif
