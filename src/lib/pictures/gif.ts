/** GIF (87a, 89a). */
import { assertSize, brokenPictureError, type CleanPicture, frameCounter, hasText, type PictureBounds, readerOf } from './picture.ts'

const [image, extension, trailer] = [0x2c, 0x21, 0x3b]
const [graphicControl, application] = [0xf9, 0xff]
/** The loop count. Other application extensions, comments and texts are dropped. */
const loops = ['NETSCAPE2.0', 'ANIMEXTS1.0']

/**
 * Removes metadata.
 * @throws PictureRefused
 */
export function cleanGif(bytes: Uint8Array, bounds: PictureBounds): CleanPicture {
  const reader = readerOf(bytes)
  const size = { width: reader.u16le(6), height: reader.u16le(8) }
  assertSize(size, bounds)
  const frames = frameCounter(bounds)
  const start = 13 + colorBytes(reader.u8(10))
  const parts = [reader.part(0, start)]
  for (let at = start; ; ) {
    // Many programs omit the trailer; the picture is complete without it.
    if (at === bytes.length && frames.count() > 0) break
    reader.piece()
    const kind = reader.u8(at)
    if (kind === trailer) break
    let end: number
    if (kind === image) {
      const [width, height] = [reader.u16le(at + 5), reader.u16le(at + 7)]
      if (width < 1 || height < 1 || reader.u16le(at + 1) + width > size.width || reader.u16le(at + 3) + height > size.height)
        throw brokenPictureError('a frame lies outside the picture')
      frames.add(width, height)
      const data = at + 10 + colorBytes(reader.u8(at + 9))
      const codeBits = reader.u8(data)
      if (codeBits < 1 || codeBits > 8) throw brokenPictureError('a frame is invalid')
      end = endOfBlocks(bytes, data + 1)
    } else if (kind === extension) end = endOfBlocks(bytes, at + 2)
    else throw brokenPictureError('there is unknown data between its parts')
    const label = reader.u8(at + 1)
    if (kind === image || label === graphicControl || (label === application && loops.some((name) => hasText(bytes, at + 3, name))))
      parts.push(reader.part(at, end))
    at = end
  }
  if (frames.count() === 0) throw brokenPictureError('it has no image data')
  return { type: 'image/gif', ...size, frames: frames.count(), parts: [...parts, Uint8Array.of(trailer)] }
}

/** Size of the colour table that the flags announce. */
const colorBytes = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1))

/**
 * Returns the position after the empty block that ends data blocks.
 * @throws PictureRefused
 */
function endOfBlocks(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; ) {
    const length = bytes[at] as number
    at += 1 + length
    if (length === 0) return at
  }
  throw brokenPictureError('it ends too early')
}
