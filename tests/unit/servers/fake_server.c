/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_server.c - see fake_server.h. */
#include "fake_server.h"
#include <stdlib.h>

static bool gone[FAKE_CLIENTS];
unsigned fake_signals, fake_closed;
static uint32_t saving;
static cap_t last_reply;
static struct {
    uint32_t client;
    bool replied;
    int64_t result;
    uint64_t word;
} replies[FAKE_REPLIES];

void fake_client_gone(uint32_t client)
{
    gone[client] = true;
}

void fake_next_client(uint32_t client)
{
    saving = client;
}

cap_t fake_last_reply(void)
{
    return last_reply;
}

bool fake_replied(cap_t reply)
{
    return replies[reply].replied;
}

int64_t fake_result(cap_t reply)
{
    return replies[reply].result;
}

uint64_t fake_word(cap_t reply)
{
    return replies[reply].word;
}

cap_t server_save_reply(void)
{
    if (last_reply + 1 == FAKE_REPLIES)
        abort();
    replies[++last_reply].client = saving;
    return last_reply;
}

bool server_reply_later(cap_t reply, int64_t result, const uint64_t word[IPC_WORDS], cap_t capability)
{
    if (reply == 0 || reply > last_reply || replies[reply].replied)
        abort(); /* a second reply */
    replies[reply].replied = true;
    replies[reply].result = result;
    replies[reply].word = word[0];
    return !gone[replies[reply].client];
}

void server_signal(cap_t notification, uint64_t bits)
{
    fake_signals++;
}

void server_close(cap_t capability)
{
    fake_closed++;
}
