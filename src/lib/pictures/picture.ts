/** A picture without metadata. */

export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/avif'] as const
export type PictureType = (typeof pictureTypes)[number]

/** A picture without metadata. */
export type CleanPicture = {
  readonly type: PictureType
  /** Displayed size in pixels. */
  readonly width: number
  readonly height: number
  /** 1 for a still picture. */
  readonly frames: number
  /** The bytes in order; most are views of the input. */
  readonly parts: readonly Uint8Array[]
}

/**
 * Why a file is not accepted. `UNKNOWN`: unsupported format. `BROKEN`: incomplete or invalid. `TOO_LARGE`: too many
 * pixels or frames.
 */
export class PictureRefused extends Error {
  override readonly name = 'PictureRefused'
  constructor(
    readonly kind: 'UNKNOWN' | 'BROKEN' | 'TOO_LARGE',
    /** A public message. */
    readonly rule: string,
  ) {
    super(rule)
  }
}

/** Limits of a picture. `framesPixelsMax` covers all frames of an animation, or all scans of a progressive picture. */
export type PictureBounds = {
  readonly pixelsMax: number
  readonly sideMax: number
  readonly framesMax: number
  readonly framesPixelsMax: number
}
/** Default limits of uploaded pictures. */
export const pictureBounds: PictureBounds = {
  pixelsMax: 50_000_000,
  sideMax: 32_767,
  framesMax: 1_000,
  framesPixelsMax: 1_000_000_000,
}

/**
 * Creates the error for a damaged picture.
 * @param why a public text: the part of the file that is wrong
 */
export const brokenPictureError = (why: string) => new PictureRefused('BROKEN', `The picture is damaged or incomplete: ${why}`)

/**
 * Checks the size of a picture.
 * @param size the size that the file claims
 * @throws PictureRefused
 */
export function assertSize({ width, height }: { width: number; height: number }, bounds: PictureBounds): void {
  if (width < 1 || height < 1) throw brokenPictureError('its width or height is zero')
  const { pixelsMax, sideMax } = bounds
  if (width * height > pixelsMax) throw new PictureRefused('TOO_LARGE', `The picture has more than ${pixelsMax / 1_000_000} megapixels`)
  if (width > sideMax || height > sideMax)
    throw new PictureRefused('TOO_LARGE', `A side of the picture is longer than ${sideMax.toLocaleString('en-US')} pixels`)
}

/** Counts the frames of an animation. */
export function frameCounter({ framesMax, framesPixelsMax }: PictureBounds) {
  let [frames, pixels] = [0, 0]
  return {
    /** @throws PictureRefused at the first frame above the limit */
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
 * Limit of chunks, segments, boxes and their entries. A picture has some thousands; millions take seconds to read and
 * one write each.
 */
const piecesMax = 20_000

/** Reads numbers; a position beyond the end means an incomplete file. */
export function readerOf(bytes: Uint8Array) {
  let pieces = 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const within = <T>(at: number, length: number, read: () => T): T => {
    if (at < 0 || at + length > bytes.length) throw brokenPictureError('it ends too early')
    return read()
  }
  return {
    length: bytes.length,
    /**
     * Counts one piece.
     * @throws PictureRefused at the first piece above the limit
     */
    piece(): void {
      if (++pieces > piecesMax) throw brokenPictureError('it has too many parts')
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

/** Returns whether the bytes at a position equal an ASCII text. */
export function hasText(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false
  for (let nth = 0; nth < text.length; nth++) if (bytes[at + nth] !== text.charCodeAt(nth)) return false
  return true
}
