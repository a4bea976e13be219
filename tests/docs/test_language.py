"""The prose of the project is plain technical English: phrases that readers stumbled over do not come back."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]

# What it looks like, and what to write instead.
PHRASES = {
    r"\b(kin|(its|their) relatives)\b": "name the others: 'and related functions'",
    r"\b(that|which) (is|are) none[.,;:)\"]": "say what is wrong: 'unknown', 'invalid', 'malformed'",
    r"\bno number's\b": "'non-numeric'",
    r"\b(is|are|was|were|been|be|not) told\b(?! apart)": "'receives', 'is given', 'is set to'",
    r"\b(the|this|a|each|every) rooms? (of|that|above|below|stands)\b": "'package', 'module' or 'layer'",
    r"\bof our own\b": "say whose, or nothing",
    r"\bhears? of\b": "'learns about', 'tracks', 'is notified of'",
    r"\bwhereof\b|\bsave for\b": "'of which', 'except'",
}
FILES = [
    path
    for folder in ("src", "native", "tests", "docs", "examples", "benchmarks", "cmake")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".pyi", ".cc", ".h", ".md") and path != pathlib.Path(__file__).resolve()
] + sorted(ROOT.glob("*.md"))


@functools.cache
def lines():
    """All lines of prose and code, as (path, number, text)."""
    return [
        (path.relative_to(ROOT), number, line)
        for path in FILES
        for number, line in enumerate(path.read_text().splitlines(), 1)
    ]


@pytest.mark.parametrize("phrase", PHRASES)
def test_phrases(phrase):
    pattern = re.compile(phrase)
    found = [f"{path}:{number}: {line.strip()}" for path, number, line in lines() if pattern.search(line)]
    assert not found, f"write {PHRASES[phrase]} instead:\n" + "\n".join(found)


def test_phrases_are_found():
    assert re.search(list(PHRASES)[1], "Raises ValueError for a target that is none.")
    assert not re.search(list(PHRASES)[3], "They are told apart by name.")
