"""`tf.app`: running a program with its flags."""

from __future__ import annotations

import sys
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.v1 import flags

__all__ = ["flags", "run"]


def run(main: Any = None, argv: Any = None) -> None:
    """Reads the flags of the command line, calls `main(argv)` with what remains, and exits with its result.

    Flags that nothing defines stay in argv. `main` is that of the program where none is given.
    """
    main = main or sys.modules["__main__"].main
    arguments = list(sys.argv if argv is None else argv)
    try:
        rest = flags.FLAGS(arguments, known_only=True)
    except flags.Error as error:
        print(f"FATAL Flags parsing error: {error}", file=sys.stderr)
        print("Pass --helpshort or --helpfull to see help on flags.", file=sys.stderr)
        sys.exit(1)
    sys.exit(main(rest))


boundaries(globals())
