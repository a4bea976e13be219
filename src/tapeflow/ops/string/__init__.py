"""Strings: splitting, joining, regular expressions, Unicode, hashing, n-grams."""
