/* stub.h - functions that the tested files call, and that a unit test does not need. */
#pragma once

#define DOES_NOTHING(function) \
    function                   \
    {                          \
    }
#define RETURNS(value, function) \
    function                     \
    {                            \
        return value;            \
    }
