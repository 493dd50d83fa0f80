# SPDX-License-Identifier: BSD-2-Clause
"""What tools/gdb/tarn.py is made of. From the bottom up: target (memory and registers of a stopped guest or of a dump),
port (what the processors do differently), kernel (its structures), then stack, waits and trace, which the commands
print."""


class TarnError(Exception):
    """Something cannot be told; the text says why, and what to do about it."""
