"""The text files of this package."""

import pkgutil


def lines_of(name: str) -> list[str]:
    """The lines of a file beside this one.

    Args:
      name: the name of the file.
    """
    return (pkgutil.get_data(__package__, name) or b"").decode().splitlines()
