"""Makes a screenshot small: the browser that took it finds its 256 colours, and the picture is written with those.

Flat colour inside contours needs no more. It knows PNG's few chunks and no page.
"""

from __future__ import annotations

import base64
import struct
import zlib

from playwright.sync_api import Page

COLOURS = 256

QUANTIZE = """
async ([data, most]) => {
  const picture = await createImageBitmap(await (await fetch(data)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const pixels = canvas.getImageData(0, 0, picture.width, picture.height).data;
  const count = new Map();
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    count.set(colour, (count.get(colour) ?? 0) + 1);
  }
  // Colours too much alike share a place: the commoner one keeps it.
  const palette = [];
  const apart = (a, b) => {
    const [red, green, blue] = [16, 8, 0].map((shift) => ((a >> shift) & 255) - ((b >> shift) & 255));
    return 2 * red ** 2 + 4 * green ** 2 + 3 * blue ** 2;
  };
  for (const [colour] of [...count].sort((a, b) => b[1] - a[1])) {
    if (palette.length === most) break;
    if (palette.every((other) => apart(colour, other) > 60)) palette.push(colour);
  }
  const place = new Map();
  for (const colour of count.keys()) {
    let best = 0;
    for (let n = 1; n < palette.length; n++)
      if (apart(colour, palette[n]) < apart(colour, palette[best])) best = n;
    place.set(colour, best);
  }
  let indices = "";
  const part = [];
  for (let i = 0; i < pixels.length; i += 4) {
    part.push(place.get((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]));
    if (part.length === 8192) indices += String.fromCharCode(...part.splice(0));
  }
  indices += String.fromCharCode(...part);
  return [picture.width, picture.height, palette, btoa(indices)];
}
"""


def small(picture: bytes, page: Page) -> bytes:
    """Return a PNG of at most `COLOURS` colours; `page` is any page that may run a script."""
    data = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    width, height, palette, packed = page.evaluate(QUANTIZE, [data, COLOURS])
    indices = base64.b64decode(packed)
    rows = b"".join(b"\0" + indices[start : start + width] for start in range(0, width * height, width))
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", b"".join(colour.to_bytes(3, "big") for colour in palette)),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
