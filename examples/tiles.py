"""Pictures made of small images: a grid of them on paper, or points on a plane."""

import numpy as np
from PIL import Image, ImageDraw

PAPER, INK = (251, 251, 250), (31, 111, 184)


def grid(images, columns=8, size=56, gap=4):
    """Images (n, h, w) or (n, h, w, 3) with values in [0, 1], side by side, row after row."""
    images = np.clip(np.asarray(images, np.float32), 0, 1)
    rows = -(-len(images) // columns)
    step = size + gap
    picture = Image.new("RGB", (columns * step + gap, rows * step + gap), PAPER)
    for i, pixels in enumerate(images):
        tile = Image.fromarray(np.uint8(np.round(pixels * 255)))
        tile = tile.resize((size, size), Image.Resampling.NEAREST)
        picture.paste(tile, (gap + i % columns * step, gap + i // columns * step))
    return picture


def points(panels, extent, size=360, gap=12):
    """One square panel for each array (n, 2) of points; the plane from -extent to extent."""
    picture = Image.new("RGB", (len(panels) * (size + gap) + gap, size + 2 * gap), PAPER)
    canvas = ImageDraw.Draw(picture, "RGBA")
    for i, panel in enumerate(panels):
        left = gap + i * (size + gap)
        canvas.rectangle((left, gap, left + size, gap + size), fill=(255, 255, 255, 255))
        inside = panel[np.all(np.abs(panel) < extent, axis=1)]
        for x, y in (inside / extent + 1) / 2 * size:
            at = left + x, gap + size - y
            canvas.ellipse((at[0] - 1.5, at[1] - 1.5, at[0] + 1.5, at[1] + 1.5), (*INK, 110))
    return picture
