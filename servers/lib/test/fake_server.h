/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/lib/test/fake_server.h - server.h without messages, and TAP, for tests on the host.
 *
 * Each client has one window in plain memory. A late answer is recorded under its reply number.
 */
#ifndef SERVERS_LIB_TEST_FAKE_SERVER_H
#define SERVERS_LIB_TEST_FAKE_SERVER_H

#include <servers/lib/server.h>

#define FAKE_CLIENTS 64u
#define FAKE_REPLIES 4096u

char *fake_window(uint32_t client);     /* its bytes; window number 0 */
void fake_client_gone(uint32_t client); /* its spans are no longer good, it hears no answers */
void fake_next_client(uint32_t client); /* whom server_save_reply saves */
cap_t fake_last_reply(void);            /* the reply saved last */
bool fake_answered(cap_t reply);
int64_t fake_result(cap_t reply);
uint64_t fake_word(cap_t reply);

#endif
