"""Regular expressions and glob patterns, and what TensorFlow answers to them.

`python regex_calls.py`, run by a Python that has TensorFlow, writes regex_vectors.json anew; test_functions.py holds
the package to it.
"""

import pathlib
import random
import runpy

VECTORS = pathlib.Path(__file__).with_name("regex_vectors.json")

SETUP = r"""
import os, re, tempfile
s = tf.strings
texts = ["", "a", "ab\n", "aab", "xAbab12", "éÉa", "ÆØß ǅ", "日本\u3000語", "a.b*c", "\n", "a_b-c", " \t", "K\u212A"]
texts = [t.encode() for t in texts] + [b"\xffa", b"a\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\0a"]

def said(call, *args):
    try:
        return call(*args)
    except tf.errors.InvalidArgumentError as error:
        return re.sub(r"^\{\{.*?\}\} | \[Op:.*", "", error.message)

names = ["a/f1", "a/f2", "a/.dot", "a/b/g1", ".h/k", ".hid", "x[y/z", "st*r", "back\\s", "d1/f", "d2/f", "q]w", "é.txt"]
names += ["A1"]

def matched(pattern):
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            open(os.path.join(folder, name), "w").close()
        os.symlink("nowhere", os.path.join(folder, "broken"))
        os.chdir(folder)
        try:
            found = [sorted(tf.io.gfile.glob(pattern)), [n.decode() for n in tf.io.matching_files(pattern).numpy()]]
            try:
                dataset = tf.data.Dataset.list_files(pattern, shuffle=False)
                found.append([n.decode() for n in dataset.as_numpy_iterator()])
            except tf.errors.InvalidArgumentError as error:
                found.append("InvalidArgumentError")
            return str(found)
        finally:
            os.chdir(here)
"""

PATTERNS = [
    "", ".", "..", ".*", "(?s).*", "a*", "(a+)+$", "(a|aa)+b", "[[:alpha:]]+", "[[:^alpha:]]", "[[:word:]]+",
    "(?i)é", "(?i)k", "(?i)ß", "[^a]", r"\pL", r"\p{Lu}", r"\PL", r"\p{Greek}", "[ -~]", r"\pN+", r"\z", r"a\z", r"\Aa",
    "a$", "(?m)a$", "(?m)^", "^", "$", "(?m)$", r"ab$", r"\Qa.b*c\E", r"\Q", r"\C", r"\C*", r"\w+", r"\s", r"\d+",
    r"\b", r"\B", r"\x{e9}", r"\xe9", r"\141", r"\a\f\t\n\r\v", "(?U)a+", "a+?", "a{2}", "a{,2}", "a{1,2}?", "x*",
    "(?P<n>a)", "(?:a)(b)", "(a)|(b)", "(|a)", "(?i:A)b", "(?-s).", "[a-cx]", "[]a]", "[^]a]", "é*", r"[\pL\d]+",
    r"\pZ",
]  # fmt: skip

INVALID = [
    "(", ")", "a)", "*", "a**", "a{1001}", "((a{100}){100}){100}", "[a", "[z-a]", "[[:foo:]]", r"\pX", r"\p{Foo}",
    r"\1", r"(a)\1", r"(?P<n>a)(?P=n)", r"\k<n>", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?<n>a)", "(?>a)", "(?z)",
    "(?i", "(?P<n", "(?P<>a)", r"\Z", r"\8", r"\y", "\\", "a++", "x{2}{3}", "(?P<n>a)(?<n>b)", "(?#a)", r"\x{110000}",
    r"\u0041", r"[\b]", "(?<", "(?<n",
]  # fmt: skip

# Where "(?<" is no group.
LITERAL = [r"\(?<a", "[(?<]", r"\Q(?<a>\E", "[(?<-=]", "a|[^(?<n>]"]

REWRITES = [r"<\0>", r"[\1]", r"\\\1", "", "x", "\\", r"a\\b", r"y\a\0", r"\2", r"\9"]

GLOBS = [
    "*", "?", "**", "*/*", "*/f*", "**/f1", "a/*", "a/f[12]", "a/f[!1]", "a/f[^1]", "d?/f", "d{1,2}/f", ".*", "*.txt",
    "?.txt", "[é].txt", "x[y/z", r"x\[y/*", "x[[]y/*", "st*r", r"st\*r", r"back\s", r"back\\s", "q[]]w",
    "[[:alpha:]]1", "[[:upper:]]*", "[a-d]1/f", "d[1-", r"a/f[\1]", "none/*", "", "a/f1", "a/",
    "*/", "a/*/", "a/f*/", "./a/*", "a/../a/f*", r"a\/f1", "a/f1/*", "broken", "bro*", "nothing", "a*/b*/*",
    "[]", "[!", "a/[a-z]", "a/[-f]*", "*1", "*]*", "a/f1\\",
]  # fmt: skip

_ATOMS = [
    "a", "b", "é", ".", r"\w", r"\PL", "[a-b]", "[^b]", "(a)", "(?:ab)", "(b|é)", "^", "$", r"\b", r"\B", r"\z",
    "(?i)A", r"\pL", "[[:alnum:]]", r"\C", r"\.", "(?m)", "(", ")", "[", r"\1", "(?=a)", "\n",
]  # fmt: skip
_REPEATS = ["", "", "", "*", "+", "?", "*?", "{1,2}", "|"]


def calls(seed, count):
    """Random patterns, valid ones and others."""
    random_ = random.Random(seed)
    made = []
    for _ in range(count):
        atoms = random_.choices(_ATOMS[:22] * 3 + _ATOMS, k=random_.randint(1, 5))
        made.append("".join(atom + random_.choice(_REPEATS) for atom in atoms))
    return [call for pattern in made for call in _calls_of(pattern, random_.choice(REWRITES[:8]))]


def _calls_of(pattern, rewrite):
    return [
        f"said(s.regex_full_match, texts, {pattern!r})",
        f"said(s.regex_replace, texts, {pattern!r}, {rewrite!r})",
        f"said(s.regex_replace, texts, {pattern!r}, {rewrite!r}, False)",
    ]


CALLS = [
    *(call for pattern in PATTERNS + LITERAL for call in _calls_of(pattern, r"<\0>")),
    *(f"said(s.regex_full_match, texts, {pattern!r})" for pattern in INVALID),
    *(f"said(s.regex_full_match, texts, tf.constant({pattern!r}))" for pattern in ("(", "(?=a)", "[[:alpha:]]")),
    *(f"said(s.regex_replace, texts, '(a)', {rewrite!r}, {every})" for rewrite in REWRITES for every in (True, False)),
    *(f"said(s.regex_replace, texts, tf.constant('(a)'), {rewrite!r})" for rewrite in REWRITES),
    "s.regex_full_match('a', ['a'])",
    "s.regex_full_match(1, 'a')",
    "s.regex_full_match('a', 1)",
    "s.regex_full_match([], '(')",
    "s.regex_full_match(tf.zeros([0], tf.string), 'a')",
    "tf.compat.v1.regex_replace(texts, '[[:alpha:]]', 'x')",
    "tf.function(lambda p: s.regex_full_match(texts, p))('a.*')",
    "tf.function(lambda: s.regex_full_match('a', '(?=a)'))()",
    *(f"matched({pattern!r})" for pattern in GLOBS),
    *calls(1, 100),
]  # fmt: skip

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
