/** WebP (RFC 9649). */
import { assertSize, brokenPictureError, type CleanPicture, frameCounter, type PictureBounds, readerOf } from './picture.ts'

const headerBytes = 12
/** Type and length. */
const chunkHeaderBytes = 8
/** Chunks that are kept, in file order. EXIF, XMP and unknown chunks are dropped. */
const keptChunks = new Set(['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', 'VP8 ', 'VP8L'])
/** Flags of VP8X. */
const [exifFlag, xmpFlag, animationFlag] = [0x08, 0x04, 0x02]
/** Header of a frame, before its chunks. */
const frameHeaderBytes = 16

type Size = { readonly width: number; readonly height: number }
type Reader = ReturnType<typeof readerOf>

/**
 * Removes metadata.
 * @throws PictureRefused
 */
export function cleanWebp(bytes: Uint8Array, bounds: PictureBounds): CleanPicture {
  const reader = readerOf(bytes)
  const fileSize = reader.u32le(4) + 8
  if (fileSize > bytes.length) throw brokenPictureError('it ends too early')
  const parts: Uint8Array[] = []
  const frames = frameCounter(bounds)
  let [canvas, image]: (Size | undefined)[] = []
  let isAnimated = false
  for (let at = headerBytes; at < fileSize; ) {
    const { type, from, end, next } = chunkAt(reader, at, fileSize)
    let chunk = reader.part(at, end)
    if (at === headerBytes && type === 'VP8X') {
      const flags = reader.u8(from)
      canvas = { width: reader.u24le(from + 4) + 1, height: reader.u24le(from + 7) + 1 }
      assertSize(canvas, bounds)
      isAnimated = (flags & animationFlag) !== 0
      chunk = new Uint8Array(chunk)
      chunk[8] = flags & ~(exifFlag | xmpFlag)
    } else if (type === 'VP8X') throw brokenPictureError('its parts are out of order')
    if (type === 'VP8 ' || type === 'VP8L') {
      if (image || isAnimated) throw brokenPictureError('its parts are out of order')
      image = sizeOf(reader, type, from)
      assertSize(image, bounds)
    }
    if (type === 'ANMF') {
      if (!isAnimated || !canvas) throw brokenPictureError('its parts are out of order')
      chunk = frameOf(reader, { at, from, end }, canvas, frames)
    }
    if (keptChunks.has(type)) {
      parts.push(chunk)
      if (chunk.length % 2 === 1) parts.push(Uint8Array.of(0))
    }
    at = next
  }
  if (isAnimated ? frames.count() === 0 : !image) throw brokenPictureError('it has no image data')
  const size = canvas ?? (image as Size)
  // Decoders accept either.
  if (image && (image.width !== size.width || image.height !== size.height)) throw brokenPictureError('it has two different sizes')
  const header = new Uint8Array(headerBytes)
  header.set(bytes.subarray(0, headerBytes))
  new DataView(header.buffer).setUint32(4, 4 + parts.reduce((sum, { length }) => sum + length, 0), true)
  return { type: 'image/webp', ...size, frames: isAnimated ? frames.count() : 1, parts: [header, ...parts] }
}

/** `next`: after a padding byte, which the last chunk may lack. */
function chunkAt(reader: Reader, at: number, fileSize: number) {
  reader.piece()
  const from = at + chunkHeaderBytes
  const end = from + reader.u32le(at + 4)
  if (end > fileSize) throw brokenPictureError('it ends too early')
  return { type: reader.text(at, 4), from, end, next: end + (end % 2) }
}

/** Returns the size from the first bytes of the coded data. */
function sizeOf(reader: Reader, type: 'VP8 ' | 'VP8L', from: number): Size {
  if (type === 'VP8 ') {
    if (reader.u24le(from + 3) !== 0x2a019d) throw brokenPictureError('its first frame is invalid')
    return { width: reader.u16le(from + 6) & 0x3fff, height: reader.u16le(from + 8) & 0x3fff }
  }
  if (reader.u8(from) !== 0x2f) throw brokenPictureError('its first frame is invalid')
  const bits = reader.u32le(from + 1)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/**
 * Counts a frame of an animation.
 * @returns its chunk without metadata
 */
function frameOf(
  reader: Reader,
  { at, from, end }: { at: number; from: number; end: number },
  canvas: Size,
  frames: ReturnType<typeof frameCounter>,
): Uint8Array {
  const size = { width: reader.u24le(from + 6) + 1, height: reader.u24le(from + 9) + 1 }
  const [x, y] = [2 * reader.u24le(from), 2 * reader.u24le(from + 3)]
  if (x + size.width > canvas.width || y + size.height > canvas.height) throw brokenPictureError('a frame lies outside the picture')
  frames.add(size.width, size.height)
  const parts: Uint8Array[] = []
  let [hasImage, isUnchanged] = [false, true]
  for (let next = from + frameHeaderBytes; next < end; ) {
    const chunk = chunkAt(reader, next, end)
    const isImage = chunk.type === 'VP8 ' || chunk.type === 'VP8L'
    if (isImage) {
      const codedSize = sizeOf(reader, chunk.type as 'VP8 ' | 'VP8L', chunk.from)
      if (hasImage || codedSize.width !== size.width || codedSize.height !== size.height)
        throw brokenPictureError('a frame has two different sizes')
      hasImage = true
    }
    if (isImage || chunk.type === 'ALPH') parts.push(reader.part(next, Math.min(chunk.next, end)))
    else isUnchanged = false
    next = chunk.next
  }
  if (!hasImage) throw brokenPictureError('a frame is empty')
  if (isUnchanged) return reader.part(at, end)
  const frame = new Uint8Array(Buffer.concat([reader.part(at, from + frameHeaderBytes), ...parts]))
  new DataView(frame.buffer).setUint32(4, frame.length - chunkHeaderBytes, true)
  return frame
}
