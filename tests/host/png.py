# SPDX-License-Identifier: BSD-2-Clause
"""Reads PNG files of 8 bits a channel, enough to ask which colours are in a picture."""
import struct
import zlib

CHANNELS = {2: 3, 6: 4}  # by colour type


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + length]
        at += length + 12


def predict(left, above, corner):
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]


def unfilter(kind, line, above, step):
    """One line of bytes; `above` is the one before it."""
    if kind == 2:
        return bytearray((byte + up) & 255 for byte, up in zip(line, above))
    line = bytearray(line)
    for i in range(len(line) if kind else 0):
        left, corner = (line[i - step], above[i - step]) if i >= step else (0, 0)
        line[i] = (line[i] + (left, 0, (left + above[i]) // 2, predict(left, above[i], corner))[kind - 1]) & 255
    return line


def colours(path):
    """All colours of a picture, as #rrggbb, with how many pixels have each."""
    with open(path, "rb") as file:
        parts = list(chunks(file.read()))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", dict(parts)[b"IHDR"])
    assert depth == 8 and not interlaced
    step = CHANNELS[kind]
    data = zlib.decompress(b"".join(part for name, part in parts if name == b"IDAT"))
    above, found = bytearray(width * step), {}
    for y in range(height):
        begin = y * (width * step + 1)
        above = unfilter(data[begin], data[begin + 1:begin + 1 + width * step], above, step)
        for x in range(0, len(above), step):
            colour = bytes(above[x:x + 3])
            found[colour] = found.get(colour, 0) + 1
    return {"#" + colour.hex(): count for colour, count in found.items()}
