"""A file of the schema, line by line. Each statement has a form, such as `event NAME NUMBER [as ALIAS] "TEXT"`, which a
line matches or the file is refused."""
import functools
import re

from model import Mistake

NAME = r"[A-Za-z]\w*"  # CTF readers strip a '_' at the beginning
KINDS = {"NUMBER": r"(?P<NUMBER>0x[0-9a-fA-F]+|\d+)(?!\w)", "ROWS": r"(?P<ROWS>\d+)(?!\w)",
         "TYPE": rf"(?P<TYPE>{NAME})\s*(?::\s*(?P<BASE>{NAME})|\[\s*(?P<COUNT>{NAME})\s*\])?",
         "[": "(?:", "]": ")?", "|": "|", "(": "(?:", ")": ")"}


@functools.lru_cache(None)
def pattern_of(form):
    """Words in capitals are names and numbers, the others are themselves; in brackets: may be missing."""
    parts = []
    for token in re.findall(r'"[A-Z]+"|\w+|\S', form):
        if token[0] == '"':  # printable ASCII, no backslash
            part = rf'"(?P<{token[1:-1]}>[ !#-\[\]-~]*)"'
        elif token in KINDS:
            part = KINDS[token]
        elif token[0].isalpha():
            part = rf"(?P<{token}>{NAME if token.isupper() else token})(?!\w)"
        else:
            part = re.escape(token)
        parts.append(part if token in "[]()|" else part + r"\s*")
    return re.compile("".join([r"\s*", *parts, "(#.*)?"]), re.A)


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
        """The next one with a statement."""
        for self.rest in self.lines:
            self.line += 1
            if re.match(r"\s*[^\s#]", self.rest):
                return True
        return False

    def match(self, form):
        """{word of the form: what stands there, or None}"""
        found = pattern_of(form).fullmatch(self.rest)
        if not found:
            self.refuse(f"expected `{form}`, not `{self.rest.strip()}`")
        return {word: int(text, 16 if "x" in text else 10) if text and word in ("NUMBER", "ROWS") else text
                for word, text in found.groupdict().items()}
