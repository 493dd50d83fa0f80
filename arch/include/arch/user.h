/*
 * arch/user.h - the only access of the kernel to user memory of the current space.
 *
 * Ranges are first checked against USER_END. handle_page_fault brings missing pages in if the kernel can do
 * that alone. Otherwise the copy returns -E_BAD_ADDRESS with cpu->fault_address set (user_copy.c then raises
 * the fault for the thread and restarts its call).
 */
#pragma once

#include <stdint.h>

int arch_copy_from_user(void *to, const void *user_from, uint64_t size); /* 0 or -E_BAD_ADDRESS */
int arch_copy_to_user(void *user_to, const void *from, uint64_t size);
int arch_load_user_word(uint32_t *value, const uint32_t *user_from); /* one atomic 32-bit load */
