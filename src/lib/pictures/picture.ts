/** What a picture is once it has been looked at: bytes that show it and tell nothing else. */

export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif'] as const
export type PictureType = (typeof pictureTypes)[number]

export type CleanPicture = {
  readonly type: PictureType
  /** As it is shown, in pixels. */
  readonly width: number
  readonly height: number
  /** 1 where it does not move. */
  readonly frames: number
  /** The bytes in their order, most of them where they were. */
  readonly parts: readonly Uint8Array[]
}

/** Why bytes are not taken as a picture: `UNKNOWN` is of none of the formats, `BROKEN` is of one and not whole, `TOO_LARGE` claims too much. */
export class PictureRefused extends Error {
  override readonly name = 'PictureRefused'
  constructor(
    readonly kind: 'UNKNOWN' | 'BROKEN' | 'TOO_LARGE',
    /** In words that may be told. */
    readonly rule: string,
  ) {
    super(rule)
  }
}

/** How large a picture may claim to be. `framesPixelsMax` is of all frames of one that moves together, and of all scans of one that loads in steps. */
export type PictureBounds = {
  readonly pixelsMax: number
  readonly sideMax: number
  readonly framesMax: number
  readonly framesPixelsMax: number
}
export const pictureBounds: PictureBounds = {
  pixelsMax: 50_000_000,
  sideMax: 32_767,
  framesMax: 1_000,
  framesPixelsMax: 1_000_000_000,
}

export const broken = (why: string) => new PictureRefused('BROKEN', `The picture is damaged or cut short: ${why}`)

/**
 * @param size as the file claims it, before anything is decoded
 * @throws PictureRefused
 */
export function assertSize({ width, height }: { width: number; height: number }, bounds: PictureBounds): void {
  if (width < 1 || height < 1) throw broken('it claims to be without width or height')
  const { pixelsMax, sideMax } = bounds
  if (width * height > pixelsMax) throw new PictureRefused('TOO_LARGE', `The picture has more than ${pixelsMax / 1_000_000} megapixels`)
  if (width > sideMax || height > sideMax)
    throw new PictureRefused('TOO_LARGE', `A side of the picture is longer than ${sideMax.toLocaleString('en-US')} pixels`)
}

/** Counts the frames of one that moves. */
export function frameCounter({ framesMax, framesPixelsMax }: PictureBounds) {
  let [frames, pixels] = [0, 0]
  return {
    /** @throws PictureRefused at the frame that is too much */
    add(width: number, height: number): void {
      frames++
      pixels += width * height
      if (frames > framesMax) throw new PictureRefused('TOO_LARGE', `The picture has more than ${framesMax.toLocaleString('en-US')} frames`)
      if (pixels > framesPixelsMax)
        throw new PictureRefused('TOO_LARGE', `The frames of the picture have more than ${framesPixelsMax / 1_000_000} megapixels together`)
    },
    count: () => frames,
  }
}

/**
 * Chunks, segments, boxes, and what is listed in them. A picture has some thousands; a file of megabytes that is made of nothing else takes
 * seconds to look through, and a write for each of them.
 */
const piecesMax = 20_000

/** A reader of numbers; what lies outside is a file that is cut short. */
export function readerOf(bytes: Uint8Array) {
  let pieces = 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const within = <T>(at: number, length: number, read: () => T): T => {
    if (at < 0 || at + length > bytes.length) throw broken('it ends too early')
    return read()
  }
  return {
    length: bytes.length,
    /** Counts one more piece of the file. @throws PictureRefused at the one that is too much */
    piece(): void {
      if (++pieces > piecesMax) throw broken('it has too many parts')
    },
    u8: (at: number) => within(at, 1, () => view.getUint8(at)),
    u16: (at: number) => within(at, 2, () => view.getUint16(at)),
    u32: (at: number) => within(at, 4, () => view.getUint32(at)),
    u64: (at: number) => within(at, 8, () => Number(view.getBigUint64(at))),
    u16le: (at: number) => within(at, 2, () => view.getUint16(at, true)),
    u24le: (at: number) => within(at, 3, () => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)),
    u32le: (at: number) => within(at, 4, () => view.getUint32(at, true)),
    /** Latin-1. */
    text: (at: number, length: number) => within(at, length, () => String.fromCharCode(...bytes.subarray(at, at + length))),
    part: (at: number, end: number) => within(at, end - at, () => bytes.subarray(at, end)),
  }
}

/** Whether bytes hold a text of ASCII at a place. */
export function hasText(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false
  for (let nth = 0; nth < text.length; nth++) if (bytes[at + nth] !== text.charCodeAt(nth)) return false
  return true
}
