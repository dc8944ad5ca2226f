/** Pictures of the demo's own making: drawn by code, so that nothing is shipped and nobody's rights are in them. */

export type Color = readonly [red: number, green: number, blue: number]

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)

/** A chunk of a PNG. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length)
  chunk.set(body, 4)
  chunk.writeUInt32BE(Bun.hash.crc32(body) >>> 0, body.length + 4)
  return chunk
}

/** As PNG wants its pixels packed (RFC 1950). */
function packed(raw: Uint8Array<ArrayBuffer>): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(Bun.hash.adler32(raw) >>> 0)
  return Buffer.concat([Uint8Array.of(0x78, 0x9c), Bun.deflateSync(raw), sum])
}

/** What a PNG holds of its pixels: 24 bits each, line by line. */
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
  return packed(raw)
}

export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return header
}

/** A picture as PNG, of the color that each of its points has. */
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
 * A still life for a product: a vessel on a table, whose form and colors follow from the product's name.
 * @returns a PNG of 480 by 480, some 10 KB
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
      const aside = Math.abs(x - middle) / half
      if (aside <= 1) return x < middle - half * 0.35 && aside < 0.7 ? light : shape
    }
    const shadow = (x - middle - 30) ** 2 / (belly * 1.6) ** 2 + (y - table) ** 2 / 16 ** 2
    if (y >= table || shadow <= 1) return shadow <= 1 ? light : shade
    return ground
  })
}
