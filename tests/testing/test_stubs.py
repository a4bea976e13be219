"""`tf.compat.v1.test.StubOutForTesting`."""

import types

import pytest

import tapeflow as tf

StubOutForTesting = tf.compat.v1.test.StubOutForTesting


class Base:
    @staticmethod
    def fixed():
        return "fixed"

    def method(self):
        return "base"


class Derived(Base):
    pass


def test_what_is_set_comes_back():
    module = types.ModuleType("module")
    module.f = "f"
    with StubOutForTesting() as stubs:
        stubs.Set(module, "f", 1)
        stubs.Set(module, "f", 2)
        stubs.Set(Base, "fixed", staticmethod(lambda: "stub"))
        assert (module.f, Base().fixed()) == (2, "stub")
    assert (module.f, Base().fixed(), Base.fixed()) == ("f", "fixed", "fixed")


def test_smart_ones_replace_where_it_is_defined():
    stubs = StubOutForTesting()
    stubs.SmartSet(Derived(), "method", lambda self: "stub")
    assert Base().method() == "stub"
    stubs.SmartUnsetAll()
    assert Base().method() == "base"
    assert "method" not in vars(Derived)
    with pytest.raises(AttributeError, match="nothing"):
        stubs.SmartSet(Base, "nothing", 1)


def test_smart_ones_of_an_object():
    value = Derived()
    value.own = 1
    stubs = StubOutForTesting()
    stubs.SmartSet(value, "own", 2)
    assert value.own == 2
    stubs.CleanUp()
    assert value.own == 1
