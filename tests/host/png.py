"""Asks Cairo's library, which `tarn view` uses, which colours are in a PNG."""
import collections
import ctypes


def colours(path):
    """All colours of a picture, as #rrggbb, with how many pixels have each."""
    cairo = ctypes.CDLL("libcairo.so.2")
    read, data_of = cairo.cairo_image_surface_create_from_png, cairo.cairo_image_surface_get_data
    read.restype = data_of.restype = ctypes.c_void_p
    surface = ctypes.c_void_p(read(path.encode()))
    assert cairo.cairo_surface_status(surface) == 0, path
    size = cairo.cairo_image_surface_get_stride(surface) * cairo.cairo_image_surface_get_height(surface)
    pixels = collections.Counter(memoryview(ctypes.string_at(data_of(surface), size)).cast("I"))
    cairo.cairo_surface_destroy(surface)
    return {f"#{pixel & 0xffffff:06x}": count for pixel, count in pixels.items()}
