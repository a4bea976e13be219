# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.lookup import experimental as experimental
from tapeflow.ops.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tapeflow.ops.lookup.initializers import TextFileIndex as TextFileIndex
from tapeflow.ops.lookup.initializers import TextFileInitializer as TextFileInitializer
from tapeflow.ops.lookup.tables import StaticHashTable as StaticHashTable
from tapeflow.ops.lookup.tables import StaticVocabularyTable as StaticVocabularyTable
__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
