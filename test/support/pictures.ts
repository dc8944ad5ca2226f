/** Generates pictures of every accepted format. */
import { png, pngChunk, pngHeader, pngPixels } from '../../src/demo/pictures.ts'

export { png, pngChunk, pngHeader }

/** Draws a PNG with a colour pattern. */
export const drawPng = (width = 64, height = 48, seed = 1): Buffer<ArrayBuffer> =>
  png(width, height, (x, y) => [(x * 4 * seed) & 255, (y * 5) & 255, (x + y * seed) & 255])

const encoded = async (picture: Uint8Array, to: (image: Bun.Image) => Bun.Image) => Buffer.from(await to(new Bun.Image(picture)).bytes())
export const jpegOf = (width = 64, height = 48, seed = 1) => encoded(drawPng(width, height, seed), (image) => image.jpeg({ quality: 85 }))
export const webpOf = (width = 64, height = 48, seed = 1) => encoded(drawPng(width, height, seed), (image) => image.webp({ quality: 80 }))
export const losslessWebpOf = (width = 64, height = 48) => encoded(drawPng(width, height), (image) => image.webp({ lossless: true }))

const u16le = (value: number) => [value & 255, value >> 8]

/** Encodes a GIF frame without compression: the code table restarts before codes need more bits. */
function gifFrame(width: number, height: number, colorAt: (x: number, y: number) => number, at: [x: number, y: number] = [0, 0]): Buffer {
  const [clear, end] = [128, 129]
  const codes = [clear]
  for (let nth = 0; nth < width * height; nth++) {
    if (nth > 0 && nth % 100 === 0) codes.push(clear)
    codes.push(colorAt(nth % width, Math.floor(nth / width)) & 127)
  }
  codes.push(end)
  const blocks: Buffer[] = []
  for (let from = 0; from < codes.length; from += 255) {
    const some = codes.slice(from, from + 255)
    blocks.push(Buffer.from([some.length, ...some]))
  }
  return Buffer.concat([
    Buffer.from([0x2c, ...u16le(at[0]), ...u16le(at[1]), ...u16le(width), ...u16le(height), 0, 7]),
    ...blocks,
    Buffer.from([0]),
  ])
}

const gifStart = (width: number, height: number) =>
  Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from([...u16le(width), ...u16le(height), 0xf6, 0, 0]),
    Buffer.from(Array.from({ length: 128 }, (_, nth) => [nth * 2, 255 - nth * 2, nth]).flat()),
  ])
export const gifLoop = Buffer.from([0x21, 0xff, 11, ...Buffer.from('NETSCAPE2.0'), 3, 1, 0, 0, 0])
const gifControl = Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0])
export const gifComment = (text: string) => Buffer.from([0x21, 0xfe, text.length, ...Buffer.from(text), 0])

/** Encodes a GIF. @param beside other blocks before the first frame */
export const gifOf = (width = 32, height = 24, frames = 1, beside: readonly Buffer[] = []): Buffer =>
  Buffer.concat([
    gifStart(width, height),
    ...(frames > 1 ? [gifLoop] : []),
    ...beside,
    ...Array.from({ length: frames }, (_, nth) => Buffer.concat([gifControl, gifFrame(width, height, (x, y) => x * 3 + y * 5 + nth * 7)])),
    Buffer.from([0x3b]),
  ])
/** Encodes a GIF whose frames are one pixel each, on a canvas of any size. */
export const gifOfPixelFrames = (width: number, height: number, frames: number): Buffer => {
  const frame = gifFrame(1, 1, () => 1)
  return Buffer.concat([gifStart(width, height), ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])])
}

export function riff(chunks: readonly (readonly [type: string, data: Uint8Array])[]): Buffer {
  const body = Buffer.concat(
    chunks.flatMap(([type, data]) => {
      const head = Buffer.alloc(8)
      head.write(type)
      head.writeUInt32LE(data.length, 4)
      return [head, data, Buffer.alloc(data.length % 2)]
    }),
  )
  const head = Buffer.alloc(12)
  head.write('RIFF')
  head.writeUInt32LE(body.length + 4, 4)
  head.write('WEBP', 8)
  return Buffer.concat([head, body])
}

/** Returns the pixel chunk of a WebP that has no other chunks. */
export const pixelsOfWebp = (webp: Buffer): readonly [string, Buffer] => {
  const type = webp.toString('latin1', 12, 16)
  return [type, webp.subarray(20, 20 + webp.readUInt32LE(16))]
}
const u24 = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255]
export const vp8x = (flags: number, width: number, height: number) => Buffer.from([flags, 0, 0, 0, ...u24(width - 1), ...u24(height - 1)])

/** Encodes an animated WebP. @param beside other chunks in each frame */
export async function animatedWebp(
  width = 32,
  height = 24,
  frames = 3,
  beside: readonly (readonly [type: string, data: Uint8Array])[] = [],
): Promise<Buffer> {
  const frame = async (nth: number): Promise<readonly [string, Buffer]> => {
    const [type, data] = pixelsOfWebp(await webpOf(width, height, nth + 1))
    const inner = riff([[type, data], ...beside]).subarray(12)
    return ['ANMF', Buffer.concat([Buffer.from([...u24(0), ...u24(0), ...u24(width - 1), ...u24(height - 1), ...u24(100), 0]), inner])]
  }
  const all = await Promise.all(Array.from({ length: frames }, (_, nth) => frame(nth)))
  return riff([['VP8X', vp8x(0x02, width, height)], ['ANIM', Buffer.from([0, 0, 0, 0, 0, 0])], ...all])
}

/** Encodes an APNG whose default picture is its first frame. */
export function animatedPng(width = 32, height = 24, frames = 3): Buffer {
  const control = (sequence: number) => {
    const data = Buffer.alloc(26)
    data.writeUInt32BE(sequence, 0)
    data.writeUInt32BE(width, 4)
    data.writeUInt32BE(height, 8)
    data.writeUInt16BE(1, 20)
    data.writeUInt16BE(10, 22)
    return pngChunk('fcTL', data)
  }
  const announced = Buffer.alloc(8)
  announced.writeUInt32BE(frames)
  const pixels = (nth: number) => pngPixels(width, height, (x, y) => [(x * nth) & 255, y & 255, nth * 9])
  const later = Array.from({ length: frames - 1 }, (_, nth) => {
    const sequence = Buffer.alloc(4)
    sequence.writeUInt32BE(nth * 2 + 2)
    return Buffer.concat([control(nth * 2 + 1), pngChunk('fdAT', Buffer.concat([sequence, pixels(nth + 2)]))])
  })
  return Buffer.concat([
    drawPng(1, 1).subarray(0, 8),
    pngChunk('IHDR', pngHeader(width, height)),
    pngChunk('acTL', announced),
    control(0),
    pngChunk('IDAT', pixels(1)),
    ...later,
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Inserts bytes, such as segments or chunks, into a picture at an offset. */
export const insertBytes = (picture: Buffer, at: number, ...parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat([picture.subarray(0, at), ...parts, picture.subarray(at)])

/** Encodes a segment of a JPEG. */
export const jpegSegment = (marker: number, data: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255]), data])

/** Encodes EXIF data with an orientation and a text, by default a location. */
export function exifSegment(orientation: number, secret = 'GPS 47.918 N 106.917 E'): Buffer {
  const entries = Buffer.alloc(2 + 2 * 12 + 4)
  entries.writeUInt16LE(2, 0)
  entries.set([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0], 2)
  entries.set([0x0e, 0x01, 2, 0, secret.length, 0, 0, 0, 8 + entries.length, 0, 0, 0], 14)
  return Buffer.concat([Buffer.from('Exif\0\0II*\0'), Buffer.from([8, 0, 0, 0]), entries, Buffer.from(secret)])
}

const box = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(type, 4)
  return Buffer.concat([head, body])
}
const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [nth, value] of values.entries()) bytes.writeUInt32BE(value, nth * 4)
  return bytes
}
const u16 = (...values: number[]) => Buffer.from(values.flatMap((value) => [value >> 8, value & 255]))

/** An AVIF of two by two pixels, written by libavif. */
export const smallAvif = Buffer.from(
  'AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADybWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAAeaWxvYwAAAABEAAABAAEAAAABAAABGgAAAB0AAAAoaWluZgAAAAAAAQAAABppbmZlAgAAAAABAABhdjAxQ29sb3IAAAAAamlwcnAAAABLaXBjbwAAABRpc3BlAAAAAAAAAAIAAAACAAAAEHBpeGkAAAAAAwgICAAAAAxhdjFDgQ0MAAAAABNjb2xybmNseAACAAIAAYAAAAAXaXBtYQAAAAAAAAABAAEEAQKDBAAAACVtZGF0EgAKCBgANogQEAwgMg8f8D///8WfhwB8+ErK42A=',
  'base64',
)

/** Encodes the AV1 sequence header of a still picture (reduced form) that declares a size. */
function av1Header(width: number, height: number): Buffer {
  const bits = [
    [0, 3],
    [1, 1],
    [1, 1],
    [0, 5],
    [15, 4],
    [15, 4],
    [width - 1, 16],
    [height - 1, 16],
  ] as const
  const text = bits.map(([value, count]) => value.toString(2).padStart(count, '0')).join('')
  const bytes = Buffer.from((text.padEnd(Math.ceil(text.length / 8) * 8, '0').match(/.{8}/g) ?? []).map((one) => Number.parseInt(one, 2)))
  return Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes])
}

type AvifParts = {
  exif?: Buffer
  xmp?: Buffer
  turned?: boolean
  coded?: readonly [number, number]
  beside?: readonly Buffer[]
  /** Replaces the content of the `iloc` box, which locates the items, after version and flags. */
  places?: Buffer
}

/** Encodes nested boxes of a film (`moov`, `trak`), the innermost empty. */
export const nestedBoxes = (depth: number): Buffer => {
  const bytes = Buffer.alloc(8 * depth)
  for (let nth = 0; nth < depth; nth++) {
    bytes.writeUInt32BE(bytes.length - 8 * nth, 8 * nth)
    bytes.write(nth === 0 ? 'moov' : 'trak', 8 * nth + 4)
  }
  return bytes
}

/** Encodes the boxes of an AVIF. Its pixel data cannot be decoded. */
export function avifOf(
  width = 64,
  height = 48,
  { exif: exifData, xmp, turned = false, coded = [width, height], beside = [], places: said }: AvifParts = {},
): Buffer {
  const pixels = Buffer.from('not coded')
  const items: [id: number, type: string, name: Buffer, data: Buffer][] = [[1, 'av01', Buffer.from('\0'), pixels]]
  if (exifData) items.push([2, 'Exif', Buffer.from('\0'), exifData])
  if (xmp) items.push([3, 'mime', Buffer.from('\0application/rdf+xml\0'), xmp])
  const ftyp = box('ftyp', Buffer.from('avif'), u32(0), Buffer.from('avifmif1miaf'))
  const made = (start: number) => {
    let at = start
    const places = items.map(([id, , , data]) => {
      at += data.length
      return Buffer.concat([u16(id, 0, 1), u32(at - data.length, data.length)])
    })
    return box(
      'meta',
      u32(0),
      box('hdlr', u32(0, 0), Buffer.from('pict'), u32(0, 0, 0), Buffer.from('\0')),
      box('pitm', u32(0), u16(1)),
      box('iloc', u32(0), ...(said ? [said] : [Buffer.from([0x44, 0]), u16(items.length), ...places])),
      box(
        'iinf',
        u32(0),
        u16(items.length),
        ...items.map(([id, type, name]) => box('infe', u32(0x02000000), u16(id, 0), Buffer.from(type), name)),
      ),
      box(
        'iprp',
        box(
          'ipco',
          box('ispe', u32(0, width, height)),
          box('av1C', Buffer.from([0x81, 0, 0, 0]), av1Header(...coded)),
          box('irot', Buffer.from([turned ? 1 : 0])),
        ),
        box('ipma', u32(0, 1), u16(1), Buffer.from([3, 1, 0x82, 0x83])),
      ),
    )
  }
  const data = box('mdat', ...items.map(([, , , bytes]) => bytes))
  return Buffer.concat([ftyp, made(ftyp.length + made(0).length + 8), data, ...beside.map((one) => box('uuid', one))])
}
