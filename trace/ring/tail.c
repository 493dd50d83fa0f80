/*
 * trace/ring/tail.c - events with a string or an array.
 *
 * Events are put together on the stack, then copied to the ring: with restart.h by one short block, whose
 * input so cannot change while it runs. If interrupts come so often that a copy of 8 KiB never ends, the
 * event is logged when they become rarer.
 */
#include <trace/ring/ring.h>
#include <trace/ring/text.h>

#ifdef TRACE_CAS
static void log_body(uint32_t id, const uint64_t *body, uint64_t words)
{
    trace_log_slow(id, body, (uint32_t)words + 1);
}
#else
#define log_body trace_log_block
void trace_log_block(uint32_t id, const uint64_t *source, uint64_t count)
{
    ARCH_TRACE_TAIL_BLOCK(id, source, count);
}
#endif

static void put_fixed(uint64_t *body, const uint64_t *fixed, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes / 8; i++)
        body[i] = fixed[i];
    for (uint32_t i = bytes & ~7u; i < bytes; i++)
        ((char *)body)[i] = ((const char *)fixed)[i];
}

void trace_log_string(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const char *text)
{
    const uint32_t longest = TRACE_TAIL_WORDS * 8 - fixed_bytes - 1;
    const uint32_t length = trace_text_length(text, longest);
    const uint32_t words = (fixed_bytes + length + 1 + 7) / 8;
    uint64_t body[words];
    body[words - 1] = 0; /* the string's NUL and padding */
    put_fixed(body, fixed, fixed_bytes);
    trace_text_copy((char *)body + fixed_bytes, text, length);
    log_body(id, body, words);
}

void trace_log_words(uint32_t id, const uint64_t *fixed, uint32_t fixed_bytes, const uint64_t *tail,
                     uint64_t count)
{
    const uint32_t fixed_words = fixed_bytes / 8;
    if (count > TRACE_TAIL_WORDS - fixed_words)
        count = TRACE_TAIL_WORDS - fixed_words;
    uint64_t body[fixed_words + count + 1]; /* not empty */
    put_fixed(body, fixed, fixed_bytes);
    for (uint64_t i = 0; i < count; i++)
        body[fixed_words + i] = tail[i];
    log_body(id, body, fixed_words + count);
}
