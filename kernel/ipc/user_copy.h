/*
 * user_copy.h - copies between the kernel and the current program's memory, for system calls.
 *
 * They bring missing pages in. Results: 0, -E_BAD_ADDRESS, or SYSCALL_NO_RESULT (arch/cpu.h): the thread
 * waits for a page that only a pager has, or for memory, and will repeat the system call. Return any result
 * but 0 at once, before anything has changed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int64_t user_read(void *to, const void *user_from, uint64_t size);
int64_t user_write(void *user_to, const void *from, uint64_t size);
int64_t user_read_word(uint32_t *value, const uint32_t *user_from);
/* Truncates to fit, and fills the rest with zeros. */
int64_t user_read_string(char *text, const char *user_from, size_t size);
int64_t user_read_name(char name[16], const char *user_from);
