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
    with pytest.raises(ValueError, match="Name of dataset is not found: iris2"):
        learn.datasets.load_dataset("iris2")


def test_tables_by_name(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("2,4,a,b\n5.1,3.5,1.4,0.2,0\n5.9,3.0,5.1,1.8,2\n")
    found = learn.datasets.load_iris(str(path))
    assert (found.data.shape, found.target.tolist()) == ((2, 4), [0, 2])
    assert learn.datasets.load_boston(str(path)).target.tolist() == [0.0, 2.0]
    with pytest.raises(ValueError, match="do not come with the package"):
        learn.datasets.load_boston()


def test_irises_of_another_package():
    pytest.importorskip("sklearn")
    found = learn.datasets.load_dataset("iris")
    assert (found.data.shape, set(found.target)) == ((150, 4), {0, 1, 2})


def test_bytes_of_documents():
    processor = learn.preprocessing.ByteProcessor(5)
    arrays = list(processor.fit_transform(["abc", "\xe4\xf6\xfc", b"\xff"]))
    assert [each.tolist() for each in arrays] == [
        [97, 98, 99, 0, 0], [195, 164, 195, 182, 195], [255, 0, 0, 0, 0],
    ]  # fmt: skip
    assert list(processor.reverse(arrays)) == ["abc", "", ""]


def test_numbers_of_categories():
    rows = [["a", 1.0], ["b", float("nan")], ["a", 2.0]]
    processor = learn.preprocessing.CategoricalProcessor()
    assert [each.tolist() for each in processor.fit_transform(rows)] == [[1, 1], [2, 0], [1, 2]]
    assert [each.tolist() for each in processor.transform([["c", 1.0]])] == [[0, 1]]
    mixed = [["0"], [1], ["0"], [1]]
    numbers = learn.preprocessing.CategoricalProcessor(1).fit_transform(mixed)
    assert [each.tolist() for each in numbers] == [[2], [1], [2], [1]]
    shared = learn.preprocessing.CategoricalProcessor(min_frequency=1, share=True)
    assert [each.tolist() for each in shared.fit_transform([["a", "b"], ["b", "c"]])] == [[0, 1], [1, 0]]
