"""Single-line changes of C++ source: what `mutate` may do to a file.

The source is clang-formatted, which tells a comparison (`a < b`) from a template (`vector<int>`):
only binary operators have blanks on both sides.
"""

import collections
import re

# One change: the characters [begin, end) of the file become `text`.
Change = collections.namedtuple("Change", "path line kind begin end text")

SWAPS = {
    "comparison": [(" < ", " <= "), (" < ", " >= "), (" <= ", " < "), (" <= ", " > "),
                   (" > ", " >= "), (" > ", " <= "), (" >= ", " > "), (" >= ", " < "),
                   (" == ", " != "), (" != ", " == ")],
    "boundary": [(op, side) for op in (" < ", " <= ", " > ", " >= ")
                 for side in (" + 1" + op, " - 1" + op)],
    "operator": [(" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * "), (" % ", " / "),
                 (" && ", " || "), (" || ", " && "), (" & ", " | "), (" | ", " & "),
                 (" << ", " >> "), (" >> ", " << "), (" += ", " -= "), (" -= ", " += "),
                 (" += ", " = "), (" |= ", " = "), (" |= ", " &= "), (" &= ", " |= "),
                 ("std::min", "std::max"), ("std::max", "std::min"),
                 (".front()", ".back()"), (".back()", ".front()"),
                 ("lower_bound(", "upper_bound("), ("upper_bound(", "lower_bound(")],
}
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(\.\d+)?([uUlL]*)(?![\w.'])")
OPERAND = r"[A-Za-z_]\w*(?:(?:\.|->|::)\w+|\(\)|\[\w+\])*"
SWAPPED = re.compile(rf"(?<![\w.>:\])])({OPERAND}) (-|/|%|<<|<|<=|>|>=) ({OPERAND})"
                     r"(?![\w(\[.:]|->)")
# Where an operand ends: at a weaker operator, which a break may follow.
AFTER = (" && ", " || ", " &&\n", " ||\n", " ? ", " : ")
BEFORE = (" && ", " || ", "return ", " = ", " ? ", " : ")
CALL = re.compile(r"[A-Za-z_]\w*[({]")
DECLARED = re.compile(r"^(const )?[\w:<>]+[&*]* [&*]?\w+$")

# Calls whose arguments only say what is wrong, or hold what cannot be.
MESSAGES = re.compile(r"\b(?:InputError|Unsupported|EnvironmentError|InternalError|PeerLost|Stalled"
                      r"|assert|static_assert)\s*[({]")
# Lines in which a change says nothing about what the code does.
IDLE = re.compile(r"^\s*(#|(using|namespace|template|friend|enum|class|struct|extern)\b)"
                  r"|\.reserve\(|operator[^\w\s]|\bInternalError\b|shrink_to_fit|__builtin")
# What is no statement, or is one whose loss does not compile or means nothing.
NO_STATEMENT = re.compile(r"^(return\b.+|using\b.*|case\b.*|default:|typedef\b.*|public:|private:"
                          r"|(?:const |constexpr |static |auto )+.*|[\w:<>,&* ]+ \w+;"
                          r"|[\w:<>,]+[&*]? \w+( = .*|\{.*\}|\(.*\));)$")


def masked(source):
    """The source, as long as it is, with blanks for comments and `"` or `'` for text."""
    out, i, n = list(source), 0, len(source)

    def blank(begin, end, sign):
        for k in range(begin, min(end, n)):
            if out[k] != "\n":
                out[k] = sign

    while i < n:
        two = source[i:i + 2]
        if two == "//":
            end = source.find("\n", i)
            end = n if end < 0 else end
            blank(i, end, " ")
        elif two == "/*":
            end = source.find("*/", i) + 2 or n
            blank(i, end, " ")
        elif source.startswith('R"', i):
            sign = source[i + 2:source.index("(", i)]
            end = source.index(f'){sign}"', i) + len(sign) + 2
            blank(i, end, '"')
        elif source[i] == '"' or (source[i] == "'" and not source[i - 1].isalnum()):
            end = i + 1
            while end < n and source[end] not in (source[i], "\n"):
                end += 2 if source[end] == "\\" else 1
            end += 1
            blank(i, end, source[i])
        else:
            end = i + 1
        i = end
    return "".join(out)


def closing(code, opening):
    """Where the bracket at `opening` closes; the end of the file if it does not."""
    depth = 0
    for i in range(opening, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return len(code)


def operand_right(code, at):
    """The end of the operand that begins at `at`: its level closes, or a weaker operator is."""
    depth, i = 0, at
    while i < len(code):
        c = code[i]
        if depth == 0 and (c in ")]};,?" or code.startswith(AFTER, i)):
            return i
        depth += (c in "([{") - (c in ")]}")
        i += 1
    return i


def operand_left(code, at):
    """The begin of the operand that ends at `at`."""
    depth, i = 0, at
    while i > 0:
        c = code[i - 1]
        if depth == 0 and (c in "([{;,?" or code.endswith(BEFORE, 0, i)):
            return i
        depth += (c in ")]}") - (c in "([{")
        i -= 1
    return i


def arguments(code, opening):
    """The (begin, end) of each argument in the brackets at `opening`, blanks stripped."""
    end, depth, begin, found = closing(code, opening), 0, opening + 1, []
    for i in range(opening + 1, end + 1):
        if i == end or (code[i] == "," and depth == 0):
            text = code[begin:i]
            left = begin + len(text) - len(text.lstrip())
            found.append((left, left + len(text.strip())))
            begin = i + 1
        else:
            # A template's list of arguments has no blanks around its brackets.
            depth += (code[i] == "<" and code[i - 1] != " ")
            depth -= (code[i] == ">" and code[i - 1] not in " -")
            depth += (code[i] in "([{") - (code[i] in ")]}")
    return found


class Source:
    """A file and the changes that it has places for."""

    def __init__(self, path, text, messages=False):
        self.path, self.text, self.code = path, text, masked(text)
        self.begin_of = [0] + [m.end() for m in re.finditer("\n", text)]
        self.shut = []  # where no change is wanted
        if not messages:
            self.shut += [(m.start(), closing(self.code, m.end() - 1))
                          for m in MESSAGES.finditer(self.code)]

    def lines(self):
        for number, begin in enumerate(self.begin_of, start=1):
            end = self.begin_of[number] - 1 if number < len(self.begin_of) else len(self.text)
            if self.code[begin:end].strip() and not IDLE.search(self.code[begin:end]):
                yield number, begin, end

    def changes(self, wanted=None):
        """Each possible change once, in the order of lines; of line `wanted` alone if given."""
        seen = set()
        for number, begin, end in self.lines():
            if wanted is not None and number != wanted:
                continue
            for kind, a, b, text in self.of_line(begin, end):
                key = self.text[begin:a] + text + self.text[b:end]
                if (a < begin or b > end or text == self.text[a:b] or (number, key) in seen or
                        any(x <= a < y for x, y in self.shut)):
                    continue
                seen.add((number, key))
                yield Change(self.path, number, kind, a, b, text)

    def of_line(self, begin, end):
        """(kind, begin, end, text) of each change that begins in these characters of the file."""
        line = self.code[begin:end]
        # A break after an operator stands for the blank there.
        padded = line + " "
        for kind, pairs in SWAPS.items():
            for old, new in pairs:
                at = padded.find(old)
                while at >= 0:
                    cut = 1 if at + len(old) > len(line) else 0
                    yield kind, begin + at, begin + at + len(old) - cut, new[:len(new) - cut]
                    at = padded.find(old, at + 1)
        for m in SWAPPED.finditer(line):
            left, sign, right = m.groups()
            yield "operands swapped", begin + m.start(), begin + m.end(), f"{right} {sign} {left}"
        for step in (("++", "--"), ("--", "++")):
            for m in re.finditer(re.escape(step[0]), line):
                yield "operator", begin + m.start(), begin + m.end(), step[1]
        yield from self.constants(line, begin)
        yield from self.conditions(line, begin)
        yield from self.statement(line, begin)
        yield from self.swapped_arguments(line, begin, end)

    @staticmethod
    def constants(line, begin):
        for m in NUMBER.finditer(line):
            number, fraction, suffix = m.groups()
            a, b = begin + m.start(), begin + m.end()
            if fraction is None and not (number.startswith("0") and len(number) > 1):
                value = int(number.replace("'", ""))
                for other in {value + 1, max(0, value - 1)}:
                    yield "constant", a, b, f"{other}{suffix}"
            elif fraction is not None:
                yield "constant", a, b, f"{float(number + fraction) + 1}{suffix}"
        for m in re.finditer(r"\b(true|false)\b", line):
            yield "constant", begin + m.start(), begin + m.end(), \
                "false" if m.group() == "true" else "true"
        for m in re.finditer(r"\breturn ([^;]+);", line):
            yield "constant", begin + m.start(1), begin + m.end(1), "{}"

    def conditions(self, line, begin):
        for m in re.finditer(r"\b(if|while) \(", line):
            inner = begin + m.end()
            end = closing(self.code, inner - 1)
            if ";" in self.code[inner:end]:
                continue
            if m.group(1) == "if":
                yield "condition dropped", inner, end, "true"
            yield "condition dropped", inner, end, "false"
        for m in re.finditer(r"(?<=[^\w\])>])!(?=[\w(])", line):
            yield "condition dropped", begin + m.start(), begin + m.end(), ""
        for m in re.finditer(r" (&&|\|\|)(?: |$)", line):
            neutral = "true" if m.group(1) == "&&" else "false"
            at = begin + m.start()
            yield "condition dropped", operand_left(self.code, at), at, neutral
            if m.group().endswith(" "):
                right = begin + m.end()
                yield "condition dropped", right, operand_right(self.code, right), neutral
        # The operand after an operator at the end of the line before.
        if self.code[:begin].endswith((" &&\n", " ||\n")):
            neutral = "true" if self.code[:begin].endswith(" &&\n") else "false"
            right = begin + len(line) - len(line.lstrip())
            yield "condition dropped", right, operand_right(self.code, right), neutral
        for m in re.finditer(r" \? ", line):
            one = begin + m.end()
            colon = operand_right(self.code, one)
            if self.code.startswith(" : ", colon):
                two = colon + 3
                last = operand_right(self.code, two)
                yield "operands swapped", one, last, \
                    f"{self.text[two:last]} : {self.text[one:colon]}"

    def statement(self, line, begin):
        bare = line.strip()
        before = self.code[:begin].rstrip()
        # The statement of an `if` in its line; that of a `for` in its line would leave the loop.
        m = re.match(r"^(if \(.*\)|else|for \(.*\)) ([^(].*;)$", bare)
        if m and closing(bare, bare.index("(")) == m.end(1) - 1 if m and "(" in m.group(1) else m:
            bare, before = m.group(2), ";"
        if (not bare.endswith(";") or NO_STATEMENT.match(bare) or bare == ";" or
                not before.endswith((";", "{", "}", ")", "else", ":")) or
                any(bare[:k].count(")") > bare[:k].count("(") for k in range(len(bare))) or
                bare.count("(") != bare.count(")") or bare.count("{") != bare.count("}")):
            return
        a = begin + line.index(bare)
        yield "statement dropped", a, a + len(bare), ";"

    def swapped_arguments(self, line, begin, end):
        for m in CALL.finditer(line):
            if re.match(r"(if|for|while|switch|return|sizeof|min|max|gcd|swap)\b", m.group()):
                continue  # no call, or one that means the same
            found = arguments(self.code, begin + m.end() - 1)
            for (a, b), (c, d) in zip(found, found[1:]):
                one, two = self.text[a:b], self.text[c:d]
                if (d <= end and one != two and one and two and
                        not any(DECLARED.match(x) for x in (one, two))):
                    yield "arguments swapped", a, d, two + self.text[b:c] + one

    def applied(self, change):
        """The file's text after the change."""
        return self.text[:change.begin] + change.text + self.text[change.end:]

    def line_pair(self, change):
        """The line before and after the change, blanks stripped."""
        begin = self.begin_of[change.line - 1]
        end = self.text.find("\n", begin)
        end = len(self.text) if end < 0 else end
        return (self.text[begin:end].strip(),
                (self.text[begin:change.begin] + change.text + self.text[change.end:end]).strip())


def sample(sources, count, draw, wanted=None):
    """`count` changes (all if None): each draw takes a line that has any, then one of its own."""
    by_line = collections.defaultdict(list)
    for source in sources:
        for change in source.changes(wanted):
            by_line[(change.path, change.line)].append(change)
    lines = sorted(by_line)
    if count is None:
        return [change for line in lines for change in by_line[line]]
    taken = []
    while lines and len(taken) < count:
        line = lines[draw.randrange(len(lines))]
        left = by_line[line]
        kinds = sorted({change.kind for change in left})
        kind = kinds[draw.randrange(len(kinds))]
        of_kind = [change for change in left if change.kind == kind]
        change = of_kind[draw.randrange(len(of_kind))]
        left.remove(change)
        taken.append(change)
        lines.remove(line)  # one change a line, so that few lines do not stand for many
    return sorted(taken)
