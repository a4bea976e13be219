"""The operations: rows of one table, in a folder for each topic, and functions composed of them.

Here is what defines a row (`table`), infers shapes and dispatches calls. No kernel or gradient belongs here."""
