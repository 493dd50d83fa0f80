/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/trace_text.h - traces written by hand: lines of text to a trace directory, in either byte
 * order.
 *
 *     1000 0 sched_switch prev_state=ready next=11/1/calc
 *     1500 0 !lost 20
 *     +50 1 user_text text=later
 *
 * Time in ticks (+50: after the line before), processor, event, fields by name: numbers, labels of
 * enumerations, texts without blanks, elements of a sequence with a colon between; what is not given is 0. A
 * switch says the next thread's number, process and name in one word; without prev_tid it is from the thread
 * that ran. Lines of one processor are in order of time; empty lines and those that begin with # do not
 * count. A packet begins with each processor's first line and with each !lost, which ends the one before and
 * says how many events were lost between the two; !closed, the last line of a processor, is a packet without
 * events, for what !lost loses until then; if the first event is no trace_context, one of the idle thread is
 * put before it. The events have the layout of the system's metadata (synthetic.h).
 */
#ifndef TESTS_TRACE_TEXT_H
#define TESTS_TRACE_TEXT_H

#include <tests/unit/tarn/synthetic.h>

#define TRACE_TEXT_CPUS 8u

/* Of OPTIONS: metadata, directory, order, freq. On failure FAIL names the line. */
bool trace_text_write(const struct synthetic_options *options, const char *text, struct fail *fail);

#endif
