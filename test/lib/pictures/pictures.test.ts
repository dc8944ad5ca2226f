/** Tests the cleaning and refusal of images of every format. The images are generated. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { beginsAsPicture, cleanPicture, PictureRefused } from '../../../src/lib/pictures/index.ts'
import { pictureBounds } from '../../../src/lib/pictures/picture.ts'
import * as make from '../../support/pictures.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const bytesOf = (picture: Uint8Array) => Buffer.concat([...cleanPicture(picture).parts])
function refusalOf(picture: Uint8Array): string {
  try {
    cleanPicture(picture)
  } catch (error) {
    if (error instanceof PictureRefused) return `${error.kind}: ${error.rule}`
    throw error
  }
  return 'taken'
}

const samples: Record<string, () => Promise<Buffer> | Buffer> = {
  jpeg: () => make.jpegOf(),
  'progressive jpeg': async () => Buffer.from(await new Bun.Image(make.drawPng()).jpeg({ quality: 80, progressive: true }).bytes()),
  png: () => make.drawPng(),
  'lossy webp': () => make.webpOf(),
  'lossless webp': () => make.losslessWebpOf(),
  gif: () => make.gifOf(64, 48),
  avif: () => make.avifOf(64, 48),
}

describe('reading images', () => {
  for (const [format, makeImage] of Object.entries(samples))
    test(`a ${format} image gets its type and size, and is unchanged if it has no metadata`, async () => {
      const picture = await makeImage()
      const clean = cleanPicture(picture)
      expect([clean.width, clean.height, clean.frames]).toEqual([64, 48, 1])
      expect(clean.type).toBe(`image/${format.split(' ').at(-1)}` as typeof clean.type)
      expect(bytesOf(picture).equals(picture)).toBe(true)
      // Parsing it again gives the same result.
      expect(bytesOf(bytesOf(picture)).equals(picture)).toBe(true)
    })

  for (const [format, makeImage] of Object.entries(samples))
    test(`a ${format} image cut at any length is refused without an unexpected error`, async () => {
      const picture = await makeImage()
      const lengths = Array.from({ length: picture.length }, (_, length) => length)
      for (const length of lengths.filter((one) => one < 700 || one % 37 === 0 || one > picture.length - 40)) {
        const refusal = refusalOf(picture.subarray(0, length))
        // A GIF is accepted without its last byte.
        if (refusal === 'taken') expect([format, picture.length - length]).toEqual(['gif', 1])
      }
    })

  test('an image with random changed bytes is accepted or refused without an unexpected error', async () => {
    const all = await Promise.all(Object.values(samples).map((makeImage) => makeImage()))
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 12 }), (picture, changes) => {
        const changed = Buffer.from(picture)
        for (const [at, value] of changes) changed[at % changed.length] = value
        refusalOf(changed)
      }),
      { numRuns: 500 },
    )
  })

  test('an animated image keeps its number of frames', async () => {
    expect(cleanPicture(make.gifOf(32, 24, 5)).frames).toBe(5)
    expect(cleanPicture(await make.animatedWebp(32, 24, 4)).frames).toBe(4)
    expect(cleanPicture(make.animatedPng(32, 24, 3)).frames).toBe(3)
    for (const picture of [make.gifOf(32, 24, 5), await make.animatedWebp(), make.animatedPng()])
      expect(bytesOf(picture).equals(picture)).toBe(true)
  })
})

describe('metadata of images', () => {
  const secret = 'GPS 47.918 N 106.917 E'
  const createJpeg = async () => {
    const plain = await make.jpegOf()
    // The offset after the start marker and the JFIF segment.
    const at = 4 + plain.readUInt16BE(4)
    return { plain, at }
  }

  test('metadata, thumbnails and trailing data are removed from a JPEG', async () => {
    const { plain, at } = await createJpeg()
    const withMetadata = Buffer.concat([
      make.insertBytes(
        plain,
        at,
        make.jpegSegment(0xe1, make.exifSegment(1, secret)),
        make.jpegSegment(0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0<x>${secret}</x>`)),
        make.jpegSegment(0xed, Buffer.from(`Photoshop 3.0\0${secret}`)),
        make.jpegSegment(0xe2, Buffer.from(`MPF\0${secret}`)),
        make.jpegSegment(0xfe, Buffer.from(secret)),
      ),
      Buffer.from(`PK\x03\x04 ${secret} <script>alert(1)</script>`),
    ])
    expect(bytesOf(withMetadata).equals(plain)).toBe(true)
  })

  for (const orientation of [2, 3, 4, 5, 6, 7, 8])
    test(`the orientation of a JPEG is kept (${orientation}), and its size is that when shown`, async () => {
      const { plain, at } = await createJpeg()
      const rotated = make.insertBytes(plain, at, make.jpegSegment(0xe1, make.exifSegment(orientation, secret)))
      const clean = cleanPicture(rotated)
      const bytes = bytesOf(rotated)
      expect([clean.width, clean.height]).toEqual(orientation >= 5 ? [48, 64] : [64, 48])
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.length).toBe(plain.length + 36)
      // Another decoder reads the same size.
      const decoded = new Bun.Image(bytes).png()
      await decoded.bytes()
      expect([decoded.width, decoded.height]).toEqual([clean.width, clean.height])
      expect(bytesOf(bytes).equals(bytes)).toBe(true)
    })

  test('the color profile of a JPEG is kept', async () => {
    const { plain, at } = await createJpeg()
    const profile = make.jpegSegment(0xe2, Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([1, 1]), Buffer.alloc(40, 7)]))
    const colored = make.insertBytes(plain, at, profile)
    expect(bytesOf(colored).equals(colored)).toBe(true)
  })

  test('texts, times, EXIF, unknown chunks and trailing data are removed from a PNG', () => {
    const plain = make.drawPng()
    const texts = ['tEXt', 'zTXt', 'iTXt', 'tIME', 'eXIf', 'prVt'].map((type) => make.pngChunk(type, Buffer.from(secret)))
    expect(bytesOf(Buffer.concat([make.insertBytes(plain, 33, ...texts), Buffer.from(secret)])).equals(plain)).toBe(true)
  })

  test('metadata is removed from a WebP, and its flags are updated', async () => {
    const pixels = make.pixelsOfWebp(await make.webpOf())
    const withMetadata = make.riff([
      ['VP8X', make.vp8x(0x0c, 64, 48)],
      pixels,
      ['EXIF', make.exifSegment(1, secret)],
      ['XMP ', Buffer.from(secret)],
      ['what', Buffer.from(secret)],
    ])
    const plain = make.riff([['VP8X', make.vp8x(0, 64, 48)], pixels])
    expect(bytesOf(Buffer.concat([withMetadata, Buffer.from(secret)])).equals(plain)).toBe(true)
    expect([
      new Bun.Image(bytesOf(withMetadata)).metadata !== undefined,
      (await new Bun.Image(bytesOf(withMetadata)).metadata()).width,
    ]).toEqual([true, 64])
  })

  test('metadata is removed from the frames of an animated WebP', async () => {
    const withMetadata = await make.animatedWebp(32, 24, 3, [
      ['EXIF', make.exifSegment(1, secret)],
      ['what', Buffer.from(secret)],
    ])
    expect(withMetadata.includes(secret)).toBe(true)
    expect(bytesOf(withMetadata).equals(await make.animatedWebp(32, 24, 3))).toBe(true)
  })

  test('comments and application data are removed from a GIF, except the loop count', () => {
    const xmp = Buffer.from([0x21, 0xff, 11, ...Buffer.from('XMP DataXMP'), secret.length, ...Buffer.from(secret), 0])
    const withMetadata = Buffer.concat([make.gifOf(32, 24, 3, [make.gifComment(secret), xmp]), Buffer.from(secret)])
    const bytes = bytesOf(withMetadata)
    expect([bytes.includes(secret), bytes.includes('NETSCAPE2.0')]).toEqual([false, true])
    expect(bytes.equals(make.gifOf(32, 24, 3))).toBe(true)
  })

  test('metadata of an AVIF is overwritten in place, and its orientation is kept', () => {
    const withMetadata = make.avifOf(64, 48, {
      exif: Buffer.from(secret),
      xmp: Buffer.from(secret),
      turned: true,
      beside: [Buffer.from(secret)],
    })
    const clean = cleanPicture(withMetadata)
    const bytes = bytesOf(withMetadata)
    expect([clean.width, clean.height, bytes.length, bytes.includes(secret), bytes.includes('not coded')]).toEqual([
      48,
      64,
      withMetadata.length,
      false,
      true,
    ])
    expect(bytes.includes('rdf+xml')).toBe(false)
    const real = cleanPicture(make.smallAvif)
    expect([real.width, real.height, bytesOf(make.smallAvif).equals(make.smallAvif)]).toEqual([2, 2, true])
  })
})

describe('refused images', () => {
  test('a file that is none of the formats is refused, whatever type it declares', () => {
    const strangers = [
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      '<!doctype html><script>alert(1)</script>',
      '%PDF-1.7',
      'BM\0\0\0\0\0\0\0\0\0\0\0\0',
      'II*\0',
      'GIF88a',
      'RIFF\x10\0\0\0WAVE',
      '',
      '\xff\xd8',
      '\0\0\0\x18ftypheic\0\0\0\0heicmif1',
    ]
    for (const text of strangers) {
      const bytes = Buffer.from(text, 'latin1')
      expect([text, refusalOf(bytes).split(':')[0], beginsAsPicture(bytes)]).toEqual([text, 'UNKNOWN', false])
    }
  })

  const bomb = (width: number, height: number) =>
    Buffer.concat([make.drawPng(1, 1).subarray(0, 8), make.pngChunk('IHDR', make.pngHeader(width, height)), make.drawPng().subarray(33)])

  test('an image with too many pixels is refused by its header', async () => {
    const tooMany = 'TOO_LARGE: The picture has more than 50 megapixels'
    expect(refusalOf(bomb(65_535, 65_535))).toBe(tooMany)
    expect(refusalOf(bomb(7_072, 7_071))).toBe(tooMany)
    expect(refusalOf(bomb(7_072, 7_070))).toBe('taken')
    expect(refusalOf(bomb(32_768, 100))).toBe('TOO_LARGE: A side of the picture is longer than 32,767 pixels')
    expect(refusalOf(bomb(0, 5))).toStartWith('BROKEN')
    expect(refusalOf(make.gifOfPixelFrames(65_535, 65_535, 1))).toBe(tooMany)
    expect(refusalOf(make.riff([['VP8X', make.vp8x(0, 16_384, 16_384)], make.pixelsOfWebp(await make.webpOf())]))).toBe(tooMany)
    expect(refusalOf(make.avifOf(65_535, 65_535))).toBe(tooMany)
    // The declared size is small and the coded size is large.
    expect(refusalOf(make.avifOf(64, 48, { coded: [65_535, 65_535] }))).toBe(tooMany)
    const jpeg = Buffer.from(await make.jpegOf())
    const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
    jpeg.writeUInt16BE(65_000, frame + 5)
    jpeg.writeUInt16BE(65_000, frame + 7)
    expect(refusalOf(jpeg)).toBe(tooMany)
  })

  test('an image with too many frames, or with too many pixels in all frames, is refused', () => {
    expect(refusalOf(make.gifOfPixelFrames(10, 10, 1_000))).toBe('taken')
    expect(refusalOf(make.gifOfPixelFrames(10, 10, 10_000))).toBe('TOO_LARGE: The picture has more than 1,000 frames')
    const start = make.gifOfPixelFrames(5_000, 5_000, 0).subarray(0, -1)
    const large = Buffer.from([0x2c, 0, 0, 0, 0, 0x88, 0x13, 0x88, 0x13, 0, 7, 1, 129, 0])
    const frames = Buffer.concat([start, ...Array.from({ length: 41 }, () => large), Buffer.from([0x3b])])
    expect(refusalOf(frames)).toBe('TOO_LARGE: The frames of the picture have more than 1000 megapixels together')
  })

  /** Creates `count` copies of a part. */
  const repeated = (part: readonly number[], count: number) => Buffer.alloc(part.length * count, Buffer.from(part))

  test('an image with too many parts is refused, in every format', async () => {
    const many = 100_000
    const [png, jpeg, gif] = [make.drawPng(), await make.jpegOf(), make.gifOf(32, 24)]
    const chunk = make.pngChunk('IDAT', Buffer.alloc(0))
    const headerEnd = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 32, 0, 24, 0]))
    const webp = await make.webpOf()
    const inWebp = Buffer.concat([webp, repeated([...Buffer.from('ICCP'), 0, 0, 0, 0], many)])
    inWebp.writeUInt32LE(inWebp.length - 8, 4)
    const pictures = {
      png: Buffer.concat([png.subarray(0, 33), repeated([...chunk], many), png.subarray(33)]),
      // Removed chunks count too.
      'png of texts': Buffer.concat([png.subarray(0, 33), repeated([...make.pngChunk('tEXt', Buffer.alloc(0))], many), png.subarray(33)]),
      jpeg: Buffer.concat([jpeg.subarray(0, 2), repeated([0xff, 0xdb, 0, 2], many), jpeg.subarray(2)]),
      gif: Buffer.concat([gif.subarray(0, headerEnd), repeated([0x21, 0xf9, 0], many), gif.subarray(headerEnd)]),
      webp: inWebp,
      avif: Buffer.concat([make.avifOf(), repeated([0, 0, 0, 8, ...Buffer.from('free')], many)]),
      // 300 items of 65,535 extents each, which use no bytes of the file.
      'avif of extents': make.avifOf(64, 48, {
        places: Buffer.concat([Buffer.from([0, 0, 1, 44]), repeated([0, 1, 0, 0, 0xff, 0xff], 300)]),
      }),
    }
    const refusals = Object.entries(pictures).map(([format, picture]) => [format, refusalOf(picture)])
    expect(refusals).toEqual(
      Object.keys(pictures).map((format) => [format, 'BROKEN: The picture is damaged or incomplete: it has too many parts']),
    )
  })

  test('an AVIF with overlapping or deeply nested parts is refused', () => {
    const secret = Buffer.alloc(200, 'x')
    const fileLength = make.avifOf(64, 48, { exif: secret }).length
    // Item 2, whose data is overwritten, refers twice to the whole file.
    const extent = (length: number) => [0, 0, 0, 0, ...new Uint8Array(new Uint32Array([length]).buffer).toReversed()]
    const extents = Buffer.from([0x44, 0, 0, 1, 0, 2, 0, 0, 0, 2, ...extent(fileLength - 50), ...extent(fileLength - 50)])
    expect(refusalOf(make.avifOf(64, 48, { exif: secret, places: extents }))).toStartWith('BROKEN')
    const refusalAtDepth = (depth: number) => refusalOf(Buffer.concat([make.avifOf(), make.nestedBoxes(depth)]))
    expect(refusalAtDepth(5)).toBe('taken')
    expect(refusalAtDepth(15_000)).toBe('BROKEN: The picture is damaged or incomplete: its parts are nested too deeply')
    expect(refusalAtDepth(100_000)).toStartWith('BROKEN')
  })

  test('an image with two sizes, or with a frame outside of itself, is refused', async () => {
    const pixels = make.pixelsOfWebp(await make.webpOf())
    expect(refusalOf(make.riff([['VP8X', make.vp8x(0, 10, 10)], pixels]))).toStartWith('BROKEN')
    const gif = make.gifOf(32, 24)
    const at = gif.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 32, 0, 24, 0]))
    gif[at + 1] = 5
    expect(refusalOf(gif)).toStartWith('BROKEN')
  })

  test('a PNG with a wrong checksum and a JPEG with too many scans are refused', async () => {
    const png = Buffer.from(make.drawPng())
    png[60] = (png[60] ?? 0) ^ 1
    expect(refusalOf(png)).toBe('BROKEN: The picture is damaged or incomplete: a checksum is wrong')
    const jpeg = await make.jpegOf()
    const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]))
    const steps = Array.from({ length: 101 }, () => jpeg.subarray(scan, -2))
    expect(refusalOf(Buffer.concat([jpeg.subarray(0, scan), ...steps, Buffer.from([0xff, 0xd9])]))).toContain('too many scans')
    // A large image may have fewer scans, because each scan decodes all its pixels.
    const progressive = Buffer.from(await new Bun.Image(make.drawPng()).jpeg({ quality: 80, progressive: true }).bytes())
    const steps10 = 10 * 64 * 48
    expect(cleanPicture(progressive, { ...pictureBounds, framesPixelsMax: steps10 }).type).toBe('image/jpeg')
    expect(() => cleanPicture(progressive, { ...pictureBounds, framesPixelsMax: steps10 - 1 })).toThrow('too many scans')
  })
})
