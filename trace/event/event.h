/*
 * trace/event/event.h - included by every generated <trace/CLASS.h>.
 *
 * Code outside trace/ logs through <trace/CLASS.h> and needs nothing else.
 */
#pragma once

#include <trace/event/schema.h>
#include <trace/ring/ring.h>
