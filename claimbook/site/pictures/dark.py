"""A figure for the dark theme: the same drawing, each colour replaced by its partner.

A colour's partner has the same hue and stands out from the dark ground as the colour stands out
from white: by the same contrast where it is a wash or a grid line, by no less where it is a line,
and by a little less where the screen has no more to give. The order of contrasts is kept, so that
a ramp stays a ramp, white becomes the ground and black becomes nearly white.

No figure is drawn again: this is a table of colours, whatever the figure shows.
"""

import base64
import io
import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from PIL import Image

BLACK = "#000000"
GROUND = "#14181e"  # of the dark pages (book/_static/type.css)
# a contrast with white, and the one that its partner has with the ground; between them the
# logarithm is linear. Lines begin where 2.4 stands: WCAG asks for 3, and for 4.5 of words
IN_LIGHT = (1.0, 1.7, 2.4, 5.0, 21.0)
IN_DARK = (1.0, 1.7, 4.8, 6.0, 15.5)
STEPS = 24  # of a bisection: 2⁻²⁴ is finer than a colour of 8 bits

COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
STYLE = re.compile(r'style="[^"]*"')
PICTURE = re.compile(r'(data:image/png;base64,)([^"]+)')

Colours = Float[np.ndarray, "colours 3"]
Numbers = Float[np.ndarray, " colours"]

# Ottosson, "A perceptual color space for image processing" (2020)
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
FROM_LAB = np.linalg.inv(TO_LAB).T
FROM_CONES = np.linalg.inv(TO_CONES).T
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def dark_svg(svg: str) -> str:
    """A drawing for the dark theme; what it states no colour for is black, and so becomes light."""
    stated = {colour for style in STYLE.findall(svg) for colour in COLOUR.findall(style)}
    dark = partners_of([BLACK, *stated])
    svg = STYLE.sub(lambda style: COLOUR.sub(lambda one: dark[one[0]], style[0]), svg)
    svg = PICTURE.sub(lambda picture: picture[1] + dark_png(picture[2]), svg)
    return svg.replace("<svg ", f'<svg fill="{dark[BLACK]}" ', 1)


def dark_png(encoded: str) -> str:
    """A picture inside a drawing, in base64, with its colours replaced by their partners."""
    with Image.open(io.BytesIO(base64.b64decode(encoded))) as picture:
        pixels = np.asarray(picture.convert("RGBA")).copy()
    red, green, blue = np.moveaxis(pixels[..., :3].astype(np.uint32), -1, 0)
    # as one number each: sorting rows of three takes twenty times as long
    numbers, place = np.unique(red << 16 | green << 8 | blue, return_inverse=True)
    known = np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=-1)
    pixels[..., :3] = _bytes(partners(known / 255))[place].reshape(pixels[..., :3].shape)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="png")
    return base64.b64encode(out.getvalue()).decode()


def partners_of(colours: Sequence[str]) -> dict[str, str]:
    """The partner of each colour, all as ``#rrggbb``."""
    found = _bytes(partners(np.stack([_rgb(colour) for colour in colours])))
    named = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in found]
    return dict(zip(colours, named, strict=True))


def contrast(one: str, other: str) -> float:
    """How far two colours (``#rrggbb``) stand out from one another: WCAG's ratio, 1 to 21."""
    low, high = sorted(float(_luminance(_rgb(colour))) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def partners(colours: Colours) -> Colours:
    """The partners of colours given as red, green and blue in [0, 1]."""
    in_light = 1.05 / (_luminance(colours) + 0.05)
    in_dark = np.exp(np.interp(np.log(in_light), np.log(IN_LIGHT), np.log(IN_DARK)))
    wanted = in_dark * (float(_luminance(_rgb(GROUND))) + 0.05) - 0.05
    lab = np.cbrt(_linear(colours) @ TO_CONES.T) @ TO_LAB.T
    low = np.zeros(len(colours))
    high = np.ones(len(colours))
    for _ in range(STEPS):
        middle = (low + high) / 2
        too_dark = _luminance(_shown(middle, lab[:, 1:])) < wanted
        low = np.where(too_dark, middle, low)
        high = np.where(too_dark, high, middle)
    found = _shown((low + high) / 2, lab[:, 1:])
    is_ground = in_light[:, None] < 1.001  # white is the ground itself, tint and all
    return np.where(is_ground, _rgb(GROUND), found)


def _shown(lightness: Numbers, hue: Float[np.ndarray, "colours 2"]) -> Colours:
    """The colours of a lightness and a hue, paler where a screen has none so strong."""
    low = np.zeros(len(lightness))
    high = np.ones(len(lightness))
    for _ in range(STEPS):
        middle = (low + high) / 2
        linear = _from_lab(lightness, hue * middle[:, None])
        inside = ((linear >= 0) & (linear <= 1)).all(1)
        low = np.where(inside, middle, low)
        high = np.where(inside, high, middle)
    return _stored(np.clip(_from_lab(lightness, hue * low[:, None]), 0, 1))


def _from_lab(lightness: Numbers, hue: Float[np.ndarray, "colours 2"]) -> Colours:
    """Amounts of light of colours in Ottosson's space."""
    lab = np.column_stack([lightness, hue])
    light: Colours = (lab @ FROM_LAB) ** 3 @ FROM_CONES
    return light


def _rgb(colour: str) -> Float[np.ndarray, " 3"]:
    """Red, green and blue in [0, 1] of ``#rrggbb``."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def _bytes(colours: Colours) -> np.ndarray:
    """Colours as a file stores them."""
    return np.round(255 * colours).astype(np.uint8)


def _luminance(colours: Float[np.ndarray, "*some 3"]) -> Float[np.ndarray, "*some"]:
    """How bright a colour is, 0 to 1."""
    bright: Float[np.ndarray, "*some"] = _linear(colours) @ LUMINANCE
    return bright


def _linear(colours: Float[np.ndarray, "*some 3"]) -> Float[np.ndarray, "*some 3"]:
    """Amounts of light, from the numbers that stand for them (sRGB)."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def _stored(light: Colours) -> Colours:
    """The numbers that stand for amounts of light: the inverse of :func:`_linear`."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
