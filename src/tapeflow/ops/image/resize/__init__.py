"""Images of another size: bilinear, nearest neighbor, bicubic, area, and any kernel under a scale and a translation.

All of them are separable: a row of the result is a weighted sum of a few rows of the image, and so for columns.
"""
