"""Image files, colors, resizing, cropping, quality measures and boxes."""
