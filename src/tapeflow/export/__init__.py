"""Models for other runtimes; `python -m tapeflow.export --help` is the command."""
