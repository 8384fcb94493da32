#!/usr/bin/env python3
"""Which sources may be compiled as one, so that what they include is read once.

usage: unity_groups.py ROOT SOURCE…

Prints "GROUP SOURCE" for each source that has others in its group. Sources of a group follow each
other in one text, so no two of them give one name to things of their own: anonymous namespaces,
constants, tests. Where this sees a clash that is none, a source is compiled with others, or alone.
"""

import pathlib
import re
import sys

LARGEST = 8  # sources of a group: more save little, and leave cores without work at the end

COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                      re.S)
ATTRIBUTES = re.compile(r"\[\[[^\[\]]*\]\]")
TOKENS = re.compile(r"[A-Za-z_]\w*|::|\S")
INCLUDES = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
LOCAL_CONSTANTS = re.compile(r"\b(k[A-Z]\w*)\s*(?:\[[^\]]*\]\s*)?[={]")
TYPE_WORDS = {"class", "struct", "enum", "union"}
TEST_MACROS = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "INSTANTIATE_TEST_SUITE_P"}


def plain(text):
    """The code without comments, literals, attributes and preprocessor lines."""
    text = COMMENTS.sub(lambda m: '""' if m.group()[0] in "R\"'" else " ", text)
    text = ATTRIBUTES.sub(" ", text)
    return re.sub(r"^\s*#.*(?:\\\n.*)*", "", text, flags=re.M)


def names_of(text):
    """What stands at namespace level of a source: names it gives, what using-declarations name, those
    of its names that stand in anonymous namespaces, of each of the others its namespaces, and what may
    be defined only once: functions by their full names and the types of their parameters, constants.

    A name may be a type's, a function's, a constant's or a test's; qualified ones belong elsewhere.
    """
    tokens = TOKENS.findall(plain(text))
    names, used, hidden, defined = set(), {}, set(), set()
    levels = []  # of each open brace: "named" or "hidden" namespace, or "" for all else
    spaces = []  # of each open brace: what the namespace is called
    places = {}
    statement = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        outside = all(levels)
        given = hidden if "hidden" in levels else names
        if token == "{":
            is_namespace = outside and "namespace" in statement[:2]
            spaces.append("".join(statement[statement.index("namespace") + 1:])
                          if is_namespace else "")
            levels.append("" if not is_namespace else "hidden" if statement[-1] == "namespace" else
                          "named")
            if outside:
                name = end_statement(statement, given, used)
                place(name, spaces[:-1], places)
                if name and TYPE_WORDS.isdisjoint(statement):
                    defined.add(full_name(spaces[:-1], name) + parameters_of(statement))
                statement = []
        elif token == "}":
            if levels:
                levels.pop()
                spaces.pop()
            statement = []
        elif token == ";" and outside:
            name = end_statement(statement, given, used)
            place(name, spaces, places)
            if name and "=" in statement and statement[0] != "using":
                defined.add(full_name(spaces, name))
            statement = []
        elif outside:
            if token == "(":
                close = closing(tokens, at)
                if statement and statement[0] in TEST_MACROS:
                    given.add(" ".join(tokens[at + 1:close]))
                statement += ["("] + tokens[at + 1:close] + [")"]
                at = close
            else:
                statement.append(token)
        at += 1
    return names | hidden, used, hidden, places, defined


def constants_of(text):
    """Constants that a source declares anywhere: they would shadow those of others."""
    return set(LOCAL_CONSTANTS.findall(plain(text)))


def closing(tokens, at):
    depth = 0
    for k in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[k], 0)
        if depth == 0:
            return k
    return len(tokens) - 1


def is_name(token):
    return re.fullmatch(r"[A-Za-z_]\w*", token) is not None


def full_name(spaces, name):
    return "::".join([*filter(None, spaces), name])


def place(name, spaces, places):
    if name:
        places.setdefault(name, set()).add(full_name(spaces, name))


def parameters_of(statement):
    """The types of a function's parameters, without their namespaces; of all else nothing."""
    if "(" not in statement:
        return ""
    begin = statement.index("(")
    types, depth = [[]], 0
    for token in statement[begin + 1:closing(statement, begin)]:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            types.append([])
        elif token == "::":
            types[-1].pop()
        else:
            types[-1].append(token)
    for each in types:
        if "=" in each:
            del each[each.index("="):]
        if len(each) > 1 and is_name(each[-1]) and each[-2] != "const":
            each.pop()  # the parameter's name
    return f"({','.join(''.join(each) for each in types)})"


def end_statement(statement, names, used):
    """The name that it gives, or nothing."""
    if not statement or "namespace" in statement[:2] or statement[0] in TEST_MACROS:
        return None
    if statement[0] == "using":
        if "=" in statement:
            names.add(statement[1])
            return statement[1]
        if statement[-1:] and is_name(statement[-1]):
            used[statement[-1]] = "".join(statement[1:])
        return None
    if statement[0] == "template":
        statement = without_parameters(statement)
    if TYPE_WORDS & set(statement[:1]):
        found = next((t for t in statement if is_name(t) and t not in TYPE_WORDS), None)
        if found:
            names.add(found)
        return found
    # The name stands before a function's parameters, before "=" or "[", or last. A qualified one is a
    # member's, which stands in a header.
    ends = [k for k, token in enumerate(statement) if token in ("(", "=", "[")]
    k = (ends[0] if ends else len(statement)) - 1
    if k >= 0 and is_name(statement[k]) and statement[k] != "static_assert":
        if k == 0 or statement[k - 1] != "::":
            names.add(statement[k])
            return statement[k]
    return None


def without_parameters(statement):
    depth = 0
    for k, token in enumerate(statement):
        depth += {"<": 1, ">": -1}.get(token, 0)
        if depth == 0 and k > 1:
            return statement[k + 1:]
    return statement


class Headers:
    """What the headers of the project give names to."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def seen_by(self, text):
        """All names of the headers that a source includes, and of those that they include, each with
        its namespaces; and what they define, each with its header."""
        seen, waiting = set(), INCLUDES.findall(text)
        names, defined = {}, {}
        while waiting:
            header = waiting.pop()
            if header in seen:
                continue
            seen.add(header)
            if header not in self.known:
                path = self.root / header
                text = path.read_text(encoding="utf-8") if path.is_file() else ""
                self.known[header] = (*names_of(text)[3:], INCLUDES.findall(text))
            for name, places in self.known[header][0].items():
                names.setdefault(name, set()).update(places)
            defined.update(dict.fromkeys(self.known[header][1], header))
            waiting += self.known[header][2]
        return names, defined


class Group:
    def __init__(self):
        self.sources, self.used = [], {}
        self.names, self.hidden, self.constants, self.seen = set(), set(), set(), {}
        self.defined = {}

    def takes(self, names, hidden, used, constants, seen, defined):
        if len(self.sources) >= LARGEST or names & self.names:
            return False
        if constants & self.names or self.constants & names:
            return False
        if names & self.used.keys() or self.names & used.keys():
            return False
        if hidden & self.seen.keys() or self.hidden & seen.keys():
            return False
        if hides_another(used, self.seen) or hides_another(self.used, seen):
            return False
        if any(self.defined.get(what, header) != header for what, header in defined.items()):
            return False
        return all(self.used.get(name, path) == path for name, path in used.items())

    def add(self, source, names, hidden, used, constants, seen, defined):
        self.sources.append(source)
        self.names |= names
        self.hidden |= hidden
        self.used.update(used)
        self.constants |= constants
        self.defined.update(defined)
        for name, places in seen.items():
            self.seen.setdefault(name, set()).update(places)


def hides_another(used, seen):
    """Whether what using-declarations name is called as something else that headers give."""
    return any(not ("::" + place).endswith("::" + path.removeprefix("slackline::"))
               for name, path in used.items() for place in seen.get(name, ()))


def grouped(root, sources):
    headers = Headers(root)
    groups = []
    for source in sources:
        text = pathlib.Path(source).read_text(encoding="utf-8")
        names, used, hidden = names_of(text)[:3]
        what = names, hidden, used, constants_of(text), *headers.seen_by(text)
        group = next((g for g in groups if g.takes(*what)), None)
        if group is None:
            group = Group()
            groups.append(group)
        group.add(source, *what)
    return groups


def main(arguments):
    if len(arguments) < 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    for number, group in enumerate(grouped(pathlib.Path(arguments[0]), arguments[1:])):
        for source in group.sources if len(group.sources) > 1 else []:
            print(number, source)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
