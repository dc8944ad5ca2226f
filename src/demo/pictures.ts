/** Draws pictures by code, so that the program ships no image files and needs no licences. */

type Color = readonly [red: number, green: number, blue: number]

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

/** Encodes a PNG chunk: length, type, data and checksum. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length)
  chunk.set(body, 4)
  chunk.writeUInt32BE(Bun.hash.crc32(body) >>> 0, body.length + 4)
  return chunk
}

/** Compresses pixels in the zlib format (RFC 1950). */
function compressed(raw: Uint8Array<ArrayBuffer>): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(Bun.hash.adler32(raw) >>> 0)
  return Buffer.concat([Uint8Array.of(0x78, 0x9c), Bun.deflateSync(raw), sum])
}

/** Encodes the content of an IDAT chunk: 24 bits a pixel, row by row, without a row filter. */
export function pngPixels(width: number, height: number, colorAt: (x: number, y: number) => Color): Buffer {
  const raw = new Uint8Array((width * 3 + 1) * height)
  let at = 0
  for (let y = 0; y < height; y++) {
    at++
    for (let x = 0; x < width; x++) {
      raw.set(colorAt(x, y), at)
      at += 3
    }
  }
  return compressed(raw)
}

/** Encodes the content of an IHDR chunk: 8 bits a channel, RGB, not interlaced. */
export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return header
}

/** Encodes a PNG. `colorAt` returns the color of a pixel. */
export const png = (width: number, height: number, colorAt: (x: number, y: number) => Color): Buffer<ArrayBuffer> =>
  Buffer.concat([
    signature,
    pngChunk('IHDR', pngHeader(width, height)),
    pngChunk('IDAT', pngPixels(width, height, colorAt)),
    pngChunk('IEND', new Uint8Array()),
  ])

const side = 480
const palettes: readonly (readonly [ground: Color, shade: Color, shape: Color, light: Color])[] = [
  [
    [244, 236, 224],
    [226, 212, 190],
    [176, 92, 62],
    [214, 148, 108],
  ],
  [
    [228, 238, 236],
    [198, 218, 214],
    [44, 106, 112],
    [108, 164, 164],
  ],
  [
    [238, 234, 244],
    [216, 208, 230],
    [98, 78, 146],
    [158, 140, 196],
  ],
  [
    [240, 242, 226],
    [218, 222, 190],
    [106, 122, 48],
    [164, 176, 104],
  ],
  [
    [244, 232, 234],
    [228, 206, 212],
    [156, 60, 88],
    [204, 128, 148],
  ],
]

const fromZero = (text: string): number => [...text].reduce((sum, sign) => (sum * 31 + (sign.codePointAt(0) ?? 0)) >>> 0, 7)

/**
 * Draws a vessel on a table. Its form and colors follow from the product's name.
 * @returns a PNG of 480 by 480 pixels, about 10 KB
 */
export function stillLife(name: string): Buffer<ArrayBuffer> {
  const seed = fromZero(name)
  const [ground, shade, shape, light] = palettes[seed % palettes.length] as (typeof palettes)[number]
  const [belly, neck, tall] = [70 + (seed % 60), 22 + ((seed >>> 6) % 40), 200 + ((seed >>> 12) % 110)]
  const [middle, table] = [side / 2, side * 0.82]
  return png(side, side, (x, y) => {
    const up = (table - y) / tall
    if (up >= 0 && up <= 1) {
      const half = up < 0.7 ? belly * (0.75 + 0.5 * Math.sin(Math.PI * (up / 0.7) * 0.8)) : neck + (belly * 0.4 - neck) * ((1 - up) / 0.3)
      const distance = Math.abs(x - middle) / half
      if (distance <= 1) return x < middle - half * 0.35 && distance < 0.7 ? light : shape
    }
    const shadow = (x - middle - 30) ** 2 / (belly * 1.6) ** 2 + (y - table) ** 2 / 16 ** 2
    if (y >= table || shadow <= 1) return shadow <= 1 ? light : shade
    return ground
  })
}
