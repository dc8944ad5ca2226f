/** PNG (W3C, third edition), including animations. */
import { assertSize, brokenPictureError, type CleanPicture, frameCounter, type PictureBounds, PictureRefused, readerOf } from './picture.ts'

const signatureBytes = 8
/** Chunks of the picture and of its colours. Texts, times, EXIF and unknown chunks are dropped. */
const keptChunks = new Set(
  ['IHDR', 'PLTE', 'IDAT', 'IEND', 'tRNS', 'gAMA', 'cHRM', 'sRGB', 'iCCP', 'sBIT', 'pHYs', 'cICP', 'mDCV', 'cLLI'].concat([
    ...['acTL', 'fcTL', 'fdAT'],
  ]),
)
/** A colour profile is compressed: a longer one may expand without limit. */
const profileBytesMax = 1024 * 1024

/**
 * Removes metadata.
 * @throws PictureRefused
 */
export function cleanPng(bytes: Uint8Array, bounds: PictureBounds): CleanPicture {
  const reader = readerOf(bytes)
  const parts = [reader.part(0, signatureBytes)]
  const frames = frameCounter(bounds)
  let size: { width: number; height: number } | undefined
  let [announcedFrames, hasData] = [0, false]
  for (let at = signatureBytes; ; ) {
    reader.piece()
    const length = reader.u32(at)
    const type = reader.text(at + 4, 4)
    const end = at + 12 + length
    const chunk = reader.part(at, end)
    if (Bun.hash.crc32(chunk.subarray(4, 8 + length)) >>> 0 !== reader.u32(end - 4)) throw brokenPictureError('a checksum is wrong')
    if ((type === 'IHDR') !== (size === undefined)) throw brokenPictureError('its parts are out of order')
    if (type === 'IHDR') {
      if (length !== 13) throw brokenPictureError('its header is invalid')
      size = { width: reader.u32(at + 8), height: reader.u32(at + 12) }
      assertSize(size, bounds)
    }
    if (type === 'iCCP' && length > profileBytesMax)
      throw new PictureRefused('TOO_LARGE', 'The color profile of the picture is longer than 1 MB')
    if (type === 'acTL' && !hasData) announcedFrames = reader.u32(at + 8)
    if (type === 'fcTL' && size) {
      const [width, height] = [reader.u32(at + 12), reader.u32(at + 16)]
      if (reader.u32(at + 20) + width > size.width || reader.u32(at + 24) + height > size.height)
        throw brokenPictureError('a frame lies outside the picture')
      frames.add(width, height)
    }
    hasData ||= type === 'IDAT'
    if (keptChunks.has(type)) parts.push(chunk)
    at = end
    if (type === 'IEND') break
  }
  if (!size || !hasData) throw brokenPictureError('it has no image data')
  // Without an animation header it is a still picture.
  return { type: 'image/png', ...size, frames: announcedFrames > 0 ? Math.max(1, frames.count()) : 1, parts }
}
