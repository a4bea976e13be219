"""Flags of the command line, of the names and manners of absl.flags, for where absl is not installed."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from typing import Any


class Error(Exception):
    """Base of the errors of flags."""


class IllegalFlagValueError(Error):
    """A flag's value cannot be read, or is not allowed."""


class ValidationError(Error):
    """A validator does not accept a flag's value."""


class DuplicateFlagError(Error):
    """A flag is defined twice."""


class UnparsedFlagAccessError(Error):
    """A flag is read before the command line was."""


class UnrecognizedFlagError(Error):
    """Nothing defines a flag of the command line."""

    def __init__(self, flagname: str, flagvalue: str = ""):
        super().__init__(f"Unknown command line flag '{flagname}'")
        self.flagname, self.flagvalue = flagname, flagvalue


class Flag:
    """One flag: how its text becomes its value, its default, and what it says for itself."""

    def __init__(
        self, name: str, default: Any, help: str | None, parse: Callable[[Any], Any],
        *, boolean: bool = False, multi: bool = False, short_name: str | None = None,
    ):  # fmt: skip
        self.name, self.help, self.parse = name, help, parse
        self.boolean, self.multi, self.short_name = boolean, multi, short_name
        self.present = 0
        self.using_default_value = True
        self.validators: list[tuple[Callable[[Any], bool], str]] = []
        self.default = None if default is None else self.read(default)
        self.value = self.default

    def read(self, text: Any) -> Any:
        try:
            if self.multi:
                texts = text if isinstance(text, (list, tuple)) else [text]
                return [self.parse(each) for each in texts]
            return self.parse(text)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {error}") from None

    def given(self, text: Any) -> None:
        """Takes the value of the command line; a multi flag gathers them."""
        value = self.read(text)
        self.value = self.value + value if self.multi and self.present else value
        self.present += 1
        self.using_default_value = False

    def check(self) -> None:
        """Raises IllegalFlagValueError for a value that a validator does not accept."""
        for accepts, message in self.validators:
            if not accepts(self.value):
                raise IllegalFlagValueError(f"flag --{self.name}={self.value}: {message}")

    def unparse(self) -> None:
        """Back to the default."""
        self.value, self.using_default_value, self.present = self.default, True, 0


class FlagValues:
    """All flags of a program; each is an attribute once the command line is read."""

    def __init__(self) -> None:
        self.__dict__["_flags"] = {}
        self.__dict__["_parsed"] = False

    def __setitem__(self, name: str, flag: Flag) -> None:
        if name in self._flags and self._flags[name] is not flag:
            raise DuplicateFlagError(f"The flag '{name}' is defined twice.")
        self._flags[name] = flag

    def __getitem__(self, name: str) -> Flag:
        return self._flags[name]

    def __contains__(self, name: object) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return sorted(self._flags)

    def __getattr__(self, name: str) -> Any:
        flag = self._flags.get(name)
        if flag is None:
            raise AttributeError(name)
        if not self._parsed:
            raise UnparsedFlagAccessError(
                f"Trying to access flag --{name} before flags were parsed."
            )
        return flag.value

    def __setattr__(self, name: str, value: Any) -> None:
        flag = self._flags.get(name)
        if flag is None:
            raise AttributeError(name)
        flag.value, flag.using_default_value = value, False
        flag.check()

    def __delattr__(self, name: str) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        for key in [key for key, each in self._flags.items() if each is flag]:
            del self._flags[key]

    def is_parsed(self) -> bool:
        """Whether the command line was read."""
        return self._parsed

    def mark_as_parsed(self) -> None:
        """Lets the flags be read as they are."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Forgets the command line."""
        for flag in self._flags.values():
            flag.unparse()
        self.__dict__["_parsed"] = False

    def set_default(self, name: str, value: Any) -> None:
        """Another default. Raises AttributeError for an unknown flag."""
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        flag.default = None if value is None else flag.read(value)
        if flag.using_default_value:
            flag.value = flag.default

    def flag_values_dict(self) -> dict[str, Any]:
        """The values of all flags by their names."""
        return {name: flag.value for name, flag in self._flags.items()}

    def get_help(self) -> str:
        """What the flags say for themselves."""
        lines = []
        for name, flag in sorted(self._flags.items()):
            if name == flag.name:
                title = f"--[no]{name}" if flag.boolean else f"--{name}"
                default = "" if flag.default is None else f"\n    (default: {flag.default!r})"
                lines.append(f"  {title}: {flag.help or ''}{default}")
        return "\n".join(lines)

    def __call__(self, argv: Any, known_only: bool = False) -> list[str]:
        """Reads the flags in argv; returns the program's name and what is no flag.

        Raises UnrecognizedFlagError for an unknown flag (kept with known_only), IllegalFlagValueError for a bad value.
        """
        words, rest = list(argv[1:]), list(argv[:1])
        while words:
            word = words.pop(0)
            if word == "--":
                rest += [*([word] if known_only else []), *words]
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            name, equals, text = word.lstrip("-").partition("=")
            flag = self._flags.get(name)
            if name in ("help", "helpshort", "helpfull") and flag is None:
                print(f"{sys.modules['__main__'].__doc__ or ''}\nflags:\n{self.get_help()}")
                sys.exit(1)
            if flag is None and name.startswith("no") and not equals:
                negated = self._flags.get(name[2:])
                if negated is not None and negated.boolean:
                    negated.given(False)
                    continue
            if flag is None:
                if not known_only:
                    raise UnrecognizedFlagError(name, text)
                rest.append(word)
            elif equals:
                flag.given(text)
            elif flag.boolean:
                flag.given(True)
            elif words:
                flag.given(words.pop(0))
            else:
                raise Error(f"Missing value for flag {word}")
        self.mark_as_parsed()
        for flag in self._flags.values():
            flag.check()
        return rest


FLAGS = FlagValues()


def _whole(text: Any) -> int:
    if isinstance(text, str):
        return int(text, 0) if text.strip().lower()[:2] in ("0x", "0o") else int(text)
    if isinstance(text, bool) or int(text) != text:
        raise TypeError(f"Expect argument to be a string or int, found {type(text)}")
    return int(text)


def _truth(text: Any) -> bool:
    if isinstance(text, str):
        if text.lower() in ("true", "t", "1"):
            return True
        if text.lower() in ("false", "f", "0"):
            return False
        raise ValueError("Non-boolean argument to boolean flag", text)
    if isinstance(text, int) and text in (0, 1):
        return bool(text)
    raise TypeError("Non-boolean argument to boolean flag", text)


def _words(separator: str | None) -> Callable[[Any], list[str]]:
    def read(text: Any) -> list[str]:
        if isinstance(text, (list, tuple)):
            return list(text)
        if separator is None:
            return text.split()
        return [word.strip() for word in next(csv.reader([text], strict=True))] if text else []

    return read


def _one_of(values: Any, case_sensitive: bool) -> Callable[[Any], str]:
    allowed = list(values)

    def read(text: Any) -> str:
        for each in allowed:
            if each == text or (not case_sensitive and each.lower() == str(text).lower()):
                return each
        raise ValueError(f"value should be one of <{'|'.join(allowed)}>")

    return read


def DEFINE_flag(flag: Flag, flag_values: FlagValues = FLAGS) -> Flag:
    """Adds a flag."""
    flag_values[flag.name] = flag
    if flag.short_name:
        flag_values[flag.short_name] = flag
    return flag


def _definer(name: str, parse: Callable[[Any], Any], of: str, **kind: bool) -> Callable[..., Flag]:
    def define(
        name: str, default: Any = None, help: str | None = None, flag_values: FlagValues = FLAGS,
        required: bool = False, short_name: str | None = None, **limits: Any,
    ) -> Flag:  # fmt: skip
        flag = Flag(name, default, help, parse, short_name=short_name, **kind)
        for bound, test in (("lower_bound", lambda v, b: v >= b), ("upper_bound", lambda v, b: v <= b)):
            limit = limits.get(bound)
            if limit is not None:

                def accepts(value: Any, test: Any = test, limit: Any = limit) -> bool:
                    return value is None or test(value, limit)

                flag.validators.append((accepts, f"must respect {bound} {limit}"))
        DEFINE_flag(flag, flag_values)
        if required:
            mark_flag_as_required(name, flag_values)
        return flag

    define.__name__ = define.__qualname__ = name
    define.__doc__ = f"Defines a flag whose value is {of}."
    return define


DEFINE_string = _definer("DEFINE_string", str, "a text")
DEFINE_integer = _definer("DEFINE_integer", _whole, "a whole number")
DEFINE_float = _definer("DEFINE_float", float, "a number")
DEFINE_boolean = _definer("DEFINE_boolean", _truth, "true or false: --name or --noname", boolean=True)
DEFINE_bool = DEFINE_boolean
DEFINE_list = _definer("DEFINE_list", _words(","), "a list of texts, separated by commas")
DEFINE_spaceseplist = _definer("DEFINE_spaceseplist", _words(None), "a list of words")
DEFINE_multi_string = _definer("DEFINE_multi_string", str, "the list of all texts given", multi=True)
DEFINE_multi_integer = _definer(
    "DEFINE_multi_integer", _whole, "the list of all whole numbers given", multi=True
)
DEFINE_multi_float = _definer("DEFINE_multi_float", float, "the list of all numbers given", multi=True)


def DEFINE_enum(
    name: str, default: Any, enum_values: Any, help: str | None = None, flag_values: FlagValues = FLAGS,
    case_sensitive: bool = True, **kwargs: Any,
) -> Flag:  # fmt: skip
    """Defines a flag whose value is one of `enum_values`."""
    return _definer("DEFINE_enum", _one_of(enum_values, case_sensitive), "one of several")(
        name, default, help, flag_values, **kwargs
    )


def DEFINE_multi_enum(
    name: str, default: Any, enum_values: Any, help: str | None = None, flag_values: FlagValues = FLAGS,
    case_sensitive: bool = True, **kwargs: Any,
) -> Flag:  # fmt: skip
    """Defines a flag whose value is the list of all values given, each one of `enum_values`."""
    parse = _one_of(enum_values, case_sensitive)
    return _definer("DEFINE_multi_enum", parse, "several", multi=True)(
        name, default, help, flag_values, **kwargs
    )


def DEFINE_alias(name: str, original_name: str, flag_values: FlagValues = FLAGS) -> Flag:
    """Gives a flag a second name."""
    flag_values[name] = flag = flag_values[original_name]
    return flag


def register_validator(
    flag_name: str, checker: Callable[[Any], bool], message: str = "Flag validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:  # fmt: skip
    """Lets a function accept the values of a flag. Raises KeyError for an unknown one."""
    flag_values[flag_name].validators.append((checker, message))


def validator(flag_name: str, message: str = "Flag validation failed", flag_values: FlagValues = FLAGS):
    """The decorator for `register_validator`."""

    def register(checker: Callable[[Any], bool]) -> Callable[[Any], bool]:
        register_validator(flag_name, checker, message, flag_values)
        return checker

    return register


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """The program does not start without the flag."""
    register_validator(
        flag_name,
        lambda value: value is not None,
        f"Flag --{flag_name} must have a value other than None.",
        flag_values,
    )


def mark_flags_as_required(flag_names: Any, flag_values: FlagValues = FLAGS) -> None:
    """The program does not start without the flags."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def set_default(flag_holder: Flag, value: Any) -> None:
    """Another default for a flag."""
    FLAGS.set_default(flag_holder.name, value)


def adopt_module_key_flags(module: Any, flag_values: FlagValues = FLAGS) -> None:
    """The flags of a module are shown by --help; all are."""


def declare_key_flag(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    """A flag is shown by --help; all are."""


def disclaim_key_flags() -> None:
    """The flags of a module are not shown by --helpshort."""
