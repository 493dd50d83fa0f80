"""Which file uses which, found in the text of the sources: a file uses another if it includes it, or its code names a function,
a variable or a macro that only the other defines. Prototypes and comments are no uses. tools/lint_tables.py says what is allowed."""
import collections
import os
import re

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S | re.M)
ATTRIBUTE = re.compile(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\) ?")
FUNCTION = re.compile(r"^(?!typedef|return|else|extern)((?:[A-Za-z_][\w ]*?[ *]+)+)(\w+)\s*\([^;{}]*?\)\s*\{", re.M)
VARIABLE = re.compile(r"^(?!typedef|extern|return|struct \w+;)([A-Za-z_][\w ]*?[ *]+)(\w+)(?:\[[^\n]*?\])*\s*(?:=|;)", re.M)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)", re.M)
HOOK = re.compile(r"^[A-Z][A-Z_]+\((\w+),", re.M)  # a macro that declares its first argument
BODY = re.compile(r"^\{.*?^\}|^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
NAME = re.compile(r"(?<![.\w])(?<!->)(?<!struct )(?<!enum )[A-Za-z_]\w*")
DECLARED = re.compile(r"^\s+(?:const |static |struct |enum |union )*[A-Za-z_]\w*[ *]+([a-z_]\w*) *(?:[;=,\[]|$)"
                      r"|[(,] *(?:const |struct |enum )*[A-Za-z_]\w*(?: \*?|\*)(?:const )?\**([a-z_]\w*)(?=[,)\[])", re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


class Uses:
    """The uses among `files`; texts[path] is a file's text."""

    def __init__(self, files, texts):
        self.code = {path: ATTRIBUTE.sub("", COMMENT_OR_TEXT.sub(blank, texts[path])) for path in files if path.endswith((".c", ".h"))}
        self.included = {path: INCLUDE.findall(texts[path]) for path in self.code}
        self.own = {path: self.defined(path) for path in self.code}
        definers = collections.defaultdict(set)
        for path, (shared, _) in self.own.items():
            for name in shared:
                definers[name].add(path)
        self.definer = {name: next(iter(paths)) for name, paths in definers.items() if len(paths) == 1 and name != "main"}
        self.used = {path: self.uses_of(path) for path in self.code}  # file: {other file: names}

    def defined(self, path):
        """(names that other files can use, names that this one means itself)"""
        code, shared, own = self.code[path], set(), set()
        for match in FUNCTION.finditer(code):
            own.add(match[2])
            if path.endswith(".h") or "static" not in match[1]:
                shared.add(match[2])
        if path.endswith(".h"):
            shared.update(HOOK.findall(code))
        for match in VARIABLE.finditer(code):
            own.add(match[2])
            if path.endswith(".c") and "static" not in match[1]:
                shared.add(match[2])
        macros = set(MACRO.findall(code))
        shared |= macros if path.endswith(".h") else set()
        own |= macros | shared
        own.update(name for pair in DECLARED.findall(code) for name in pair if name and path.endswith(".c"))
        return shared, own

    def uses_of(self, path):
        code = self.code[path]
        if path.endswith(".h"):
            code = "\n".join(BODY.findall(code))
        uses = collections.defaultdict(set)
        for name in set(NAME.findall(code)) - self.own[path][1]:
            other = self.definer.get(name)
            if other and other != path and not name.startswith("sys_"):
                uses[other].add(name)
        for name in self.included[path]:
            for other in (name, os.path.join(os.path.dirname(path), name)):
                if other in self.code and other != path:
                    uses[other].add("#include")
        return uses


def circles(graph):
    """Sets of files that use each other, directly or through others (Tarjan's strongly connected components). A file that
    uses a header does not use what the header declares."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found
