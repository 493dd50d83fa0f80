# SPDX-License-Identifier: BSD-2-Clause
"""Modules of tools/gdb/tarn.py, bottom up: target (memory and registers of a stopped guest or a dump), port (architecture
differences), kernel (its structures), then stack, waits and trace, which provide the commands' output."""


class TarnError(Exception):
    """Information is not available; the text says why and what to do."""
