/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/test/image_make.h - makes a guest's memory for tests: store, info page, metadata, rings, in
 * either byte order, at places that only the store tells.
 */
#ifndef TARN_TEST_IMAGE_MAKE_H
#define TARN_TEST_IMAGE_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format/store.h>

#define MAKE_BYTES        (4u << 20) /* of memory */
#define MAKE_CPUS         2u
#define MAKE_BUFFER_BYTES (16u << 10)
#define MAKE_BUFFERS      4u
#define MAKE_FIRST        3u /* number of the oldest packet; the newest, open, has MAKE_FIRST + 3 */
#define MAKE_EVENTS       100u
#define MAKE_INFO_AT      0x1000u
#define MAKE_STORE_AT     0x100000u

struct made {
    uint8_t *ram; /* MAKE_BYTES */
    bool big;     /* byte order */
    uint64_t store_at;
    uint64_t base;      /* physical address of ram[0] */
    uint64_t ring_base; /* the same, for rings that lie elsewhere; with an own address space */
};

enum made_state { MADE_WHOLE, MADE_OPEN, MADE_TORN };

/* Everything as after boot and a while of logging; `ram` is the caller's. */
void make_image(struct made *made);
void make_store(struct made *made, uint32_t age);
void seal_store(struct made *made); /* computes the checksum again */
/* Packet `number`: MAKE_EVENTS events whose fields are made_id() and its complement. TORN: words of the event
 * in the middle were never written. */
void make_packet(struct made *made, uint32_t cpu, uint64_t number, enum made_state state);
void make_index(struct made *made, uint32_t cpu, uint64_t index);
uint64_t made_id(uint32_t cpu, uint64_t number, uint32_t event);
/* Where things lie in `ram`. */
uint8_t *made_control(struct made *made, uint32_t cpu);
uint8_t *made_packet(struct made *made, uint32_t cpu, uint64_t number);
uint8_t *made_store(struct made *made);

void put32(const struct made *made, void *at, uint32_t value);
void put64(const struct made *made, void *at, uint64_t value);
uint64_t get64(const struct made *made, const void *at);

/* Writes a file: memory as it is, or an ELF core of it in two segments. */
void write_file(const char *path, const void *bytes, size_t size);
void write_core(const char *path, const struct made *made);

#endif
