"""Modules of tools/gdb/tarn.py, bottom up: port (architecture differences), kernel (a stopped guest's memory and structures), stack
(call chains)."""


class TarnError(Exception):
    """Information is not available; the text says why and what to do."""
