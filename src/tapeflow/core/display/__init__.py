"""How objects are shown: as text by `print` and `repr`, as HTML in notebooks.

What a tensor, a dataset or a model shows of itself is said by its own class, in terms of these functions.
"""
