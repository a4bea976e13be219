"""Every function that Python calls in native code goes through the guard, which turns C++ exceptions into Python's."""

import re
from pathlib import Path

SOURCES = [f for f in sorted((Path(__file__).parents[2] / "native").rglob("*.cc")) if "deploy" not in f.parts]
TABLE = re.compile(r"(?:PyMethodDef|PyGetSetDef|PyType_Slot) (\w+)\[\] = \{(.*?)\{(?:nullptr|0),", re.S)
SLOT = re.compile(r"(?:->|\.)(?:vectorcall|(?:nb|sq|mp)_\w+) = (\w+)")
GUARDED = re.compile(r"entry<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
PROSE = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
# CPython's own names; what frees or visits an object; how the tables are written; the number methods, whose slots
# are read by themselves.
UNGUARDED = re.compile(
    r"_?Py_?\w+|METH_\w+|\w*(?:dealloc|destroy|traverse|clear|release_buffer)"
    r"|slot|method|nullptr|const_cast|char|kKeywords|n|nb_\w+|\w*(?:methods|getset|members)"
)
# It calls the guard itself, with the name of the op.
GUARDS = {"op_vectorcall"}


def entries():
    """How many functions are guarded, and (file, name) of each one that is not."""
    guarded, bare = 0, []
    for file in SOURCES:
        text = file.read_text()
        for table in TABLE.finditer(text):
            code = PROSE.sub("", table[2])
            guarded += len(GUARDED.findall(code))
            names = re.findall(r"[A-Za-z_]\w*", GUARDED.sub("", code))
            bare += [(file.name, name) for name in names if not UNGUARDED.fullmatch(name)]
        for name in SLOT.findall(text):
            guarded += name == "entry"
            if name != "entry" and name not in GUARDS:
                bare.append((file.name, name))
    return guarded, bare


def test_entries_are_guarded():
    guarded, bare = entries()
    assert not bare, f"wrap these in entry<> (native/guard.h): {bare}"
    assert guarded == sum(file.read_text().count("entry<") for file in SOURCES), "a table has another form"
