/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_server.h - server.h without messages, and TAP, for tests on the host.
 *
 * A deferred reply is recorded under its number.
 */
#ifndef SERVERS_LIB_TEST_FAKE_SERVER_H
#define SERVERS_LIB_TEST_FAKE_SERVER_H

#include <servers/lib/server.h>

#define FAKE_CLIENTS 64u
#define FAKE_REPLIES 4096u

void fake_client_gone(uint32_t client); /* replies do not reach it */
void fake_next_client(uint32_t client); /* client of the next server_save_reply */
cap_t fake_last_reply(void);            /* the most recently saved reply */
bool fake_replied(cap_t reply);
int64_t fake_result(cap_t reply);
uint64_t fake_word(cap_t reply);
extern unsigned fake_signals, fake_closed; /* calls of server_signal, server_close */

#endif
