"""Texts as numbers of words."""

import numpy as np
import pytest

from tapeflow.contrib import learn

TEXTS = ["the cat sat", "the cat", "Don't run TensorFlow, the-end"]


def test_words():
    found = list(learn.preprocessing.tokenizer(["Don't run TensorFlow, the-end NASA"]))
    assert found == [["Don't", "run", "Tensor", "Flow", "the-end", "NASA"]]


def test_documents(tmp_path):
    processor = learn.preprocessing.VocabularyProcessor(4)
    found = np.array(list(processor.fit_transform(TEXTS)))
    assert found.dtype == np.int64
    assert found.tolist() == [[1, 2, 3, 0], [1, 2, 0, 0], [4, 5, 6, 7]]
    assert len(processor.vocabulary_) == 9
    processor.save(str(tmp_path / "vocabulary"))
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "vocabulary"))
    assert [x.tolist() for x in again.transform(["sat dog the"])] == [[3, 0, 1, 0]]
    assert list(again.reverse([[3, 0, 1]])) == ["sat <UNK> the"]


def test_rare_words_are_unknown():
    processor = learn.preprocessing.VocabularyProcessor(3, min_frequency=1)
    assert [x.tolist() for x in processor.fit_transform(TEXTS)] == [[2, 1, 0], [2, 1, 0], [0, 0, 0]]
    assert learn.ModeKeys.INFER == "infer"


def test_digits_by_name():
    digits = learn.datasets.load_dataset("mnist")
    assert digits.train.images.shape[1:] == (784,)
    assert len(digits.test.labels) == len(digits.test.images)
    with pytest.raises(ValueError, match="Name of dataset is not found: iris"):
        learn.datasets.load_dataset("iris")
