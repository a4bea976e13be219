"""Calls of functions of strings, and what TensorFlow answers to them.

`python text_calls.py`, run by a Python that has TensorFlow, writes text_vectors.json anew; test_text.py holds the
package to it.
"""

import pathlib
import runpy

VECTORS = pathlib.Path(__file__).with_name("text_vectors.json")

SETUP = """
v1 = tf.compat.v1
s = tf.strings
words = tf.ragged.constant([["a", "b", "c"], ["d"], [], ["e", "f"]])
texts = [b"a\\xffb\\xe2\\x82\\xac", b"", "\\U0001f600\\u00e9".encode(), b"\\xe2\\x82"]
points = tf.ragged.constant([[[65, 66], [0x20ac]], [], [[0x1f600], []]], dtype=tf.int32)
bad = [0x110000, 65, 0xd800, -1, 0x20ac]
"""

_ENCODED = (
    "b'a\\xff\\x80b\\xc3', 'UTF-8'",
    "b'\\xf0\\x9f\\x98', 'UTF-8'",
    "b'\\xed\\xa0\\x80', 'UTF-8'",
    "b'\\xc0\\x80\\xe0\\x80\\x80', 'UTF-8'",
    "b'\\xef\\xbb\\xbfab', 'UTF-8'",
    "b'\\xf4\\x90\\x80\\x80x', 'UTF-8'",
    "b'\\xff\\xfea\\0b\\0', 'UTF-16'",
    "b'\\xff\\xfea\\0b\\0', 'UTF-16-LE'",
    "b'\\xd8\\x00\\x00a\\xd8\\x3d\\xde\\x00', 'UTF-16-BE'",
    "b'\\x00a\\x00', 'UTF-16-BE'",
    "b'\\x00\\x00\\x00a\\x00\\x11\\x00\\x00', 'UTF-32-BE'",
    "b'a\\xe9\\x80', 'ISO-8859-1'",
    "b'a\\xe9', 'US-ASCII'",
    "b'\\x93\\xfa\\x96{a', 'SHIFT-JIS'",
    "b'\\xe4\\xee', 'KOI8-R'",
    "b'a', 'NO-SUCH'",
)

CALLS = [
    *(
        f"s.unicode_decode_with_offsets({e}{errors})"
        for e in _ENCODED
        for errors in ("", ", errors='ignore'", ", errors='strict'")
    ),
    # Without a byte order mark the order is big-endian.
    *(
        f"s.unicode_decode_with_offsets([{text}], '{encoding}')"
        for text in (r"b'\x00*\x00a'", r"b'*\x00'", r"b'\x00'", r"b'\xfe\xff\x00a'",
                     r"b'\x00\x00\xfe\xff\x00\x00\x00a'",
                     r"b'\x00\x00\x00a'", r"b'\xff\xfe\x00\x00a\x00\x00\x00'", r"b'\xd8\x01'")
        for encoding in ("UTF-16", "utf-32", "UTF-16LE")
    ),
    *(
        f"{call}, errors='{errors}', replacement_char=63, replace_control_characters=True)"
        for call in (r"s.unicode_transcode([b'a\x01\x1f\xffb\x7f'], 'UTF-8', 'UTF-8'",
                     r"s.unicode_transcode(b'a\nb', 'UTF-8', 'UTF-16-BE'",
                     r"s.unicode_decode_with_offsets(b'a\x00b', 'UTF-8'", r"s.unicode_decode([b'\t\x80'], 'UTF-8'")
        for errors in ("replace", "ignore", "strict")
    ),
    "s.unicode_decode(texts, 'UTF-8')",
    "s.unicode_decode([texts], 'UTF-8', errors='ignore')",
    "s.unicode_decode(words, 'UTF-8')",
    "s.unicode_decode(texts, 'UTF-8', replacement_char=-1)",
    "s.unicode_decode(texts, 'UTF-8', replacement_char=65)",
    "s.unicode_decode(texts, 'UTF-8', errors='other')",
    "s.unicode_decode('a\\x01\\x7f\\n', 'UTF-8', replace_control_characters=True)",
    *(f"s.unicode_encode(bad, 'UTF-8', errors={e!r})" for e in ("replace", "ignore", "strict")),
    *(f"s.unicode_encode(points, {e!r})" for e in ("UTF-8", "UTF-16-BE", "UTF-32-BE", "UTF-16-LE")),
    "s.unicode_encode(65, 'UTF-8')",
    "s.unicode_encode([[65, 66], [67, 68]], 'UTF-8')",
    "s.unicode_encode([[[65, 66], [67, 68]]], 'UTF-8')",
    "s.unicode_encode(bad, 'UTF-8', replacement_char=0x110000)",
    "s.unicode_transcode(texts, 'UTF-8', 'UTF-16-BE')",
    "s.unicode_transcode(texts, 'UTF-8', 'UTF-8', errors='strict')",
    "s.unicode_transcode('a\\x01', 'UTF-8', 'UTF-8', replacement_char=63, replace_control_characters=True)",
    "s.unicode_transcode(b'a\\xe9', 'ISO-8859-1', 'UTF-32-BE')",
    "s.unicode_transcode(words, 'UTF-8', 'UTF-16-BE')",
    "s.unicode_split(texts, 'UTF-8')",
    "s.unicode_split(texts[0], 'UTF-8', errors='ignore')",
    "s.unicode_split([texts], 'UTF-8', replacement_char=65)",
    "s.unicode_split(b'\\0a\\xd8\\x3d\\xde\\0', 'UTF-16-BE')",
    "s.unicode_split('a', 'US-ASCII')",
    "s.unicode_split_with_offsets(texts, 'UTF-8')",
    "s.unicode_split_with_offsets(words, 'UTF-8', errors='strict')",
    "s.unicode_script(list(range(0, 0x3000, 7)) + [-1, 0x10ffff, 0x110000, 0x1f600])",
    "s.unicode_script(points)",
    *(
        f"s.ngrams({data}, {rest})"
        for data in ("words", "[['a', 'b', 'c'], ['d', 'e', 'f']]", "['a', 'b']")
        for rest in (
            "2",
            "1",
            "(2, 3)",
            "2, separator='|'",
            "3, pad_values='X'",
            "[2, 3], pad_values=('L', 'R')",
            "3, pad_values='X', padding_width=1",
            "4, preserve_short_sequences=True",
            "5, pad_values='X', padding_width=1, preserve_short_sequences=True",
            "0",
            "[2, 0]",
            "2, pad_values=3",
            "2, pad_values=('a', 3)",
            "2, padding_width=1",
            "2, pad_values='x', padding_width=0",
        )
    ),
    "s.ngrams('a', 2)",
    "s.ngrams(tf.ragged.constant([[['a', 'b'], ['c']], [[]]], ragged_rank=2), 2)",
    "s.bytes_split('ab')",
    "s.bytes_split(['ab', '', '\\u00e9'])",
    "s.bytes_split([['ab', 'c'], ['', 'd']])",
    "s.bytes_split(words)",
    "s.split('a b  c')",
    "s.split(['a b', '', ' c  d '])",
    "s.split([['a b', 'c'], ['', 'd e']])",
    "s.split(tf.ragged.constant([['a b', 'c'], []]))",
    "s.split(['a,b,,c', ','], sep=',')",
    "s.split(['a,b,,c', ','], sep=',', maxsplit=1)",
    "s.split(['a b c  d'], maxsplit=2)",
    "s.split(['a<>b<>c'], '<>')",
    "s.split(['a'], [','])",
    "v1.strings.split('a b')",
    "v1.strings.split(['a b', 'c'])",
    "v1.strings.split(source=['a b', 'c'], sep='b')",
    "v1.strings.split([['a b', 'c']])",
    "v1.strings.split(['a b'], result_type='RaggedTensor')",
    "v1.strings.split(['a b'], result_type='other')",
    "v1.string_split(['a b', 'c;d'])",
    "v1.string_split(['a b', 'c;d'], ' ;')",
    "v1.string_split(['ab', ''], '')",
    "v1.string_split(['a b', ';c; d'], ';', skip_empty=False)",
    "v1.string_split(['a b'], delimiter='b', result_type='RaggedTensor')",
    "v1.string_split('a b')",
    "v1.string_split(['a'], [';'])",
    "s.to_hash_bucket(['', 'a', 'abcdefgh', 'a longer text with more than eight bytes'], 1000003)",
    "v1.strings.to_hash_bucket(string_tensor=['a'], num_buckets=9)",
    "v1.strings.to_hash_bucket(['a'])",
    "v1.string_to_hash_bucket(['a'], 9)",
    "s.to_hash_bucket_strong(['', 'a', 'abcdefgh', 'a longer text with more'], 1000003, [7, -9])",
    "s.to_hash_bucket_strong(words, 7, [1, 2])",
    "s.to_hash_bucket_strong(['a'], 7, [1])",
    "s.to_hash_bucket_fast(['a'], 0)",
    "s.unsorted_segment_join(['a', 'b', 'c'], [0, 2, 0], 3, ':')",
    "s.unsorted_segment_join([['a', 'b'], ['c', 'd']], [0, 0], 1)",
    "s.unsorted_segment_join([['a', 'b'], ['c', 'd']], [[0, 1], [1, 0]], 2, ':')",
    "s.unsorted_segment_join(['a', 'b'], [0, 3], 2)",
    "s.unsorted_segment_join(['a', 'b'], [0], 2)",
    "tf.fingerprint([[1, 2], [3, 4]])",
    "tf.fingerprint(['a', 'b'])",
    "tf.fingerprint([['a', 'b'], ['c', 'd']])",
    "tf.fingerprint([[[1.5]], [[2.5]]])",
    "tf.fingerprint(3)",
    "tf.fingerprint([3], 'md5')",
    "tf.function(lambda x: s.unicode_decode(x, 'UTF-8'))(tf.constant(texts))",
    "tf.function(lambda x: s.split(x))(tf.constant(['a b', 'c']))",
    "tf.function(lambda x: s.ngrams(x, 2))(words)",
    "s.join([words, words], '-')",
    "s.join([words, 'x'], '-')",
    "s.reduce_join(words, 1)",
    "s.reduce_join(words, 1, separator='-')",
    "s.reduce_join(words, 0)",
    "s.reduce_join([['a', 'b'], ['c', 'd']], [0, 1], True, '.')",
    "s.substr(words, 0, 1)",
    "s.length(words)",
    "s.upper(words)",
    "s.format('{} and {}', [tf.constant([1, 2]), 'a'])",
    "s.format('{}', tf.range(20), summarize=2)",
    "s.format('a %t b', tf.constant(3), placeholder='%t')",
    "s.format('{}', [1, 2, 3])",
    "s.format('{}', words)",
    "s.as_string([1.5, float('nan'), -2.25], precision=3)",
    "s.as_string([1, 20], width=5, fill='0')",
    "s.as_string([1.5], scientific=True)",
    "s.as_string([1.5], shortest=True, scientific=True)",
    "s.as_string([True, False])",
    "s.as_string(tf.constant([1 + 2j], tf.complex64))",
    "s.as_string([1.0], precision=-2)",
    "s.as_string([1], fill='ab', width=4)",
    "s.as_string([1], scientific=True)",
    "s.to_number([' 1.5 ', '-2e3', 'inf', 'nan'])",
    "s.to_number(['0x10', '1'], tf.int32)",
    "s.to_number(['3000000000'], tf.int32)",
    "s.to_number(['-7', ' 8 '], tf.int64)",
    "s.to_number(['a'])",
    "s.to_number(['1.5'], tf.float64)",
    "s.regex_replace(['aXbX', 'c'], 'X', r'[\\0]')",
    "s.regex_replace('aaa', 'a', 'b', replace_global=False)",
    "s.regex_replace('a', '(', 'b')",
    "s.regex_replace('abc', '(a)(b)', r'\\2\\1')",
    "s.regex_replace(words, '[a-c]', 'x')",
    "s.regex_full_match(['ab', 'abc'], 'a.')",
    "s.regex_full_match(words, '[ab]')",
    "s.regex_full_match('a', '(')",
    "s.strip(words)",
    "s.lower(tf.constant('\\u00c9'), encoding='utf-8')",
    "s.length(['\\u00e9', 'ab'], unit='UTF8_CHAR')",
    "s.substr(['h\\u00e9llo', 'ab'], [1, 0], [2, 1], unit='UTF8_CHAR')",
    "s.substr(['hello'], 6, 1)",
    "s.substr([['hello'], ['world']], [[1], [2]], [[2], [3]])",
    "s.substr('hello', [1, 2], [2, 3])",
    "s.substr([['hello', 'a'], ['world', 'b']], [0, 0], [1, 1])",
    "s.substr(['a', 'b', 'c'], [0, 0], [1, 1])",
    "v1.reduce_join([['a', 'b']], reduction_indices=1, keep_dims=True)",
]

if __name__ == "__main__":
    runpy.run_path(str(pathlib.Path(__file__).with_name("function_calls.py")))["write"](
        VECTORS, CALLS, SETUP
    )
