# SPDX-License-Identifier: BSD-2-Clause
"""A file of the schema, line by line and word by word: each function reads what it names, or refuses the file."""
import re

from model import Mistake


class Text:
    def __init__(self, file):
        try:
            with open(file, encoding="latin-1") as text:
                self.lines = iter(text.read().splitlines())
        except OSError as error:
            raise Mistake(f"{file}: cannot be read") from error
        self.file, self.line, self.rest = file, 0, ""

    def refuse(self, message, line=None):
        raise Mistake(f"{self.file}:{line or self.line}: {message}")

    def next_line(self):
        self.rest = next(self.lines, None)
        self.line += self.rest is not None
        return self.rest is not None

    def at_end(self):
        """Of the line; skips blanks and a comment."""
        self.rest = re.sub(r"^[ \t\r]*(#.*)?", "", self.rest)
        return not self.rest

    def take(self, pattern):
        self.at_end()
        match = re.match(pattern, self.rest, re.A)
        self.rest = self.rest[match.end():] if match else self.rest
        return match and match[0]

    def expect(self, char):
        if not self.take(re.escape(char)):
            self.refuse(f"expected '{char}' before '{self.rest[:20]}'")

    def expect_end(self):
        if not self.at_end():
            self.refuse(f"'{self.rest[:20]}' is more than belongs on this line: remove it")

    def word(self, what):
        word = self.take(r"[A-Za-z_]\w*")
        if not word:
            self.refuse(f"expected {what} (a letter, then letters, digits or '_') before '{self.rest[:20]}'")
        return word

    def name(self, what):
        name = self.word(what)
        if name.startswith("_"):
            self.refuse(f"'{name}' begins with '_', which CTF readers strip: choose another name")
        return name

    def number(self, what):
        number = self.take(r"0x[0-9a-fA-F]+|\d+")
        if not number:
            self.refuse(f"expected {what} (a number) before '{self.rest[:20]}'")
        return int(number, 16 if "x" in number else 10)

    def quoted(self, what):
        if not self.take('"'):
            self.refuse(f"expected {what} in double quotes before '{self.rest[:20]}'")
        text, quote, self.rest = self.rest.partition('"')
        if not re.fullmatch(r"[ -\[\]-~]*", text):
            self.refuse(f"{what} may hold printable ASCII only, no backslash")
        if not quote:
            self.refuse(f"{what} has no closing quote on this line")
        return text
