"""Calls that Keras 3 takes are taken: the arguments of its functions, classes and methods, compared with TensorFlow's.

There may be more arguments, after those of Keras 3, for the programs of Keras 2, and defaults where Keras 3 has none.
"""




def test_differences_are_found():
    theirs = [["x", "POSITIONAL_OR_KEYWORD", ""], ["axis", "POSITIONAL_OR_KEYWORD", "-1"]]
    assert differences(theirs, theirs) == []
    assert differences(theirs, [*theirs, ["name", "POSITIONAL_OR_KEYWORD", "None"]]) == []
    assert differences(theirs, [*theirs, ["name", "POSITIONAL_OR_KEYWORD", ""]]) == ["name: required"]
    assert differences(theirs, theirs[:1]) == ["axis: absent"]
    assert differences(theirs, theirs[::-1]) == ["x: place 1, not 0", "axis: place 0, not 1"]
    assert differences(theirs, [theirs[0], ["axis", "POSITIONAL_OR_KEYWORD", "0"]]) == ["axis: default 0, not -1"]
    assert differences(theirs, [theirs[0], ["axis", "KEYWORD_ONLY", "-1"]]) == ["axis: place None, not 1"]


def places(arguments):
    """The places of arguments that calls give by position."""
    return {name: place for place, (name, kind, _) in enumerate(arguments) if kind.startswith("POSITIONAL_OR")}


def differences(theirs, ours):
    """What calls of theirs ours does not take, or takes otherwise."""
    found = []
    mine = {name: default for name, _, default in ours}
    kinds = {kind for _, kind, _ in ours}
    for name, kind, default in theirs:
        if kind.startswith("VAR"):
            continue
        if name not in mine:
            if "VAR_KEYWORD" not in kinds:
                found.append(f"{name}: absent")
        elif places(theirs).get(name, places(ours).get(name)) != places(ours).get(name):
            found.append(f"{name}: place {places(ours).get(name)}, not {places(theirs)[name]}")
        elif default != mine[name] and default:
            found.append(f"{name}: default {mine[name] or 'absent'}, not {default}")
    names = {name for name, _, _ in theirs}
    found += [f"{n}: required" for n, k, d in ours if not d and n not in names and not k.startswith("VAR")]
    return found
