"""Draws the result of a training: the loss curve, and the images the model got wrong."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SCALE = 2  # drawn at twice the size, so that text is crisp on any screen
WIDTH, HEIGHT, MARGIN = 1120, 620, 48
INK, QUIET, GRID, PAPER = "#1d2733", "#6b7785", "#e3e7ec", "#fbfbfa"
FAINT, LINE, RIGHT, WRONG = "#c5d8ee", "#1f6fb8", "#2a7f4f", "#c0392b"


def draw(losses, mistakes, title, subtitle):
    """A picture of `losses` (one a step) and `mistakes`: (image, truth, guess), uint8 images."""
    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), PAPER)
    canvas = ImageDraw.Draw(image)
    text(canvas, (MARGIN, 34), title, 26, INK)
    text(canvas, (MARGIN, 70), subtitle, 15, QUIET)
    curve(canvas, losses, (MARGIN + 44, 148, 560, HEIGHT - 76))
    digits(image, canvas, mistakes, (620, 148, WIDTH - MARGIN, HEIGHT - 40))
    return image


def text(canvas, at, words, size, color, anchor="la"):
    font = ImageFont.load_default(size * SCALE)
    canvas.text((at[0] * SCALE, at[1] * SCALE), words, fill=color, font=font, anchor=anchor)


def line(canvas, points, color, width):
    points = [(x * SCALE, y * SCALE) for x, y in points]
    canvas.line(points, fill=color, width=round(width * SCALE), joint="curve")


def curve(canvas, losses, box):
    """The loss on a logarithmic axis: every step faintly, a running mean on top."""
    left, top, right, bottom = box
    losses = np.maximum(np.asarray(losses, np.float64), 1e-4)
    low = np.floor(np.log10(losses.min()) * 2) / 2
    high = max(np.ceil(np.log10(losses.max()) * 2) / 2, low + 1)

    def place(steps, values):
        x = left + (right - left) * np.asarray(steps) / max(len(losses) - 1, 1)
        y = bottom - (bottom - top) * (np.log10(values) - low) / (high - low)
        return list(zip(x, y, strict=True))

    text(canvas, (left - 44, top - 32), "loss", 15, INK)
    for value in (m * 10.0**e for e in range(-4, 6) for m in (1, 3)):
        if low <= np.log10(value) <= high:
            (_, y), *_ = place([0], np.array([value]))
            line(canvas, [(left, y), (right, y)], GRID, 1)
            text(canvas, (left - 10, y), f"{value:g}", 12, QUIET, "rm")
    for fraction in (0, 0.25, 0.5, 0.75, 1):
        x = left + (right - left) * fraction
        text(canvas, (x, bottom + 10), f"{fraction * len(losses):,.0f}", 12, QUIET, "ma")
    text(canvas, ((left + right) / 2, bottom + 32), "step", 13, QUIET, "ma")

    steps = np.arange(len(losses))
    line(canvas, place(steps, losses), FAINT, 1)
    window = max(len(losses) // 25, 1)
    sums = np.cumsum(np.concatenate([[0.0], losses]))
    starts = np.maximum(steps + 1 - window, 0)
    means = (sums[steps + 1] - sums[starts]) / (steps + 1 - starts)
    line(canvas, place(steps, means), LINE, 2.5)


def digits(image, canvas, mistakes, box, columns=8, rows=5):
    """The first mistakes in a grid: the image, what it is, what the model took it for."""
    left, top, right, bottom = box
    shown = mistakes[: columns * rows]
    heading = f"misread: {len(mistakes)}"
    if len(shown) < len(mistakes):
        heading += f", the first {len(shown)} here"
    text(canvas, (left, top - 32), heading, 15, INK)
    text(canvas, (right - 62, top - 30), "truth", 13, RIGHT, "ra")
    text(canvas, (right, top - 30), "answer", 13, WRONG, "ra")
    step_x, step_y = (right - left) / columns, (bottom - top) / rows
    size = 44
    for index, (pixels, truth, guess) in enumerate(shown):
        x = left + step_x * (index % columns)
        y = top + step_y * (index // columns)
        tile = Image.fromarray(255 - np.asarray(pixels, np.uint8))
        tile = tile.resize((size * SCALE, size * SCALE), Image.Resampling.BICUBIC)
        image.paste(tile, (round(x * SCALE), round(y * SCALE)))
        canvas.rectangle([v * SCALE for v in (x, y, x + size, y + size)], outline=GRID, width=SCALE)
        text(canvas, (x + 4, y + size + 5), str(truth), 15, RIGHT)
        text(canvas, (x + size - 4, y + size + 5), str(guess), 15, WRONG, "ra")
