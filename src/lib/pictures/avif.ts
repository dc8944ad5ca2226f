/**
 * AVIF (AV1 image file format, ISO/IEC 23008-12 and 14496-12). No box moves, because offsets count from the start of
 * the file. `Bun.Image` of 1.4.4 neither reads nor writes AVIF on Linux (ERR_IMAGE_FORMAT_UNSUPPORTED).
 */
import { assertSize, brokenPictureError, type CleanPicture, hasText, type PictureBounds, readerOf } from './picture.ts'

type Box = { readonly type: string; readonly at: number; readonly from: number; readonly end: number }
type Size = { readonly width: number; readonly height: number }
type Reader = ReturnType<typeof readerOf>

const brands = ['avif', 'avis']
/** Nesting depth of boxes in image sequences. */
const depthMax = 8
/** Boxes of the file that the picture needs. Others are emptied in place. */
const topKept = new Set(['ftyp', 'meta', 'mdat', 'moov', 'free', 'skip'])
/** Items with pixels, or with instructions such as coding, grids and rotation. */
const itemsKept = new Set(['av01', 'grid', 'iovl', 'iden', 'tmap'])
/** Boxes of sequences that contain metadata. */
const movieDropped = new Set(['udta', 'meta', 'uuid'])
const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])

/** Returns whether bytes start with an `ftyp` box that names a brand of AVIF, major or compatible. */
export function isAvif(bytes: Uint8Array): boolean {
  if (!hasText(bytes, 4, 'ftyp')) return false
  const end = Math.min(bytes.length, new DataView(bytes.buffer, bytes.byteOffset).getUint32(0))
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12 && brands.some((brand) => hasText(bytes, at, brand))) return true
  return false
}

/**
 * Removes metadata.
 * @throws PictureRefused
 */
export function cleanAvif(bytes: Uint8Array, bounds: PictureBounds): CleanPicture {
  const reader = readerOf(bytes)
  const clean = new Uint8Array(bytes)
  const top = boxesIn(reader, 0, bytes.length)
  const meta = top.find(({ type }) => type === 'meta')
  if (!meta || top[0]?.type !== 'ftyp') throw brokenPictureError('the description of its content is missing')
  for (const box of top) if (!topKept.has(box.type)) empty(clean, box)
  for (const box of top) if (box.type === 'free' || box.type === 'skip') clean.fill(0, box.from, box.end)
  const movie = top.find(({ type }) => type === 'moov')
  const frames = movie ? framesIn(reader, movie, clean) : 1
  const parts = boxesIn(reader, meta.from + 4, meta.end)
  dropItems(reader, parts, clean)
  const size = primarySize(reader, parts, bounds)
  return { type: 'image/avif', ...size, frames, parts: [clean] }
}

/** @throws PictureRefused if a box exceeds its parent */
function boxesIn(reader: Reader, start: number, end: number): Box[] {
  const boxes: Box[] = []
  for (let at = start; at < end; ) {
    reader.piece()
    const short = reader.u32(at)
    const header = short === 1 ? 16 : 8
    const length = short === 1 ? reader.u64(at + 8) : short === 0 ? end - at : short
    if (length < header || at + length > end) throw brokenPictureError('it ends too early')
    boxes.push({ type: reader.text(at + 4, 4), at, from: at + header, end: at + length })
    at += length
  }
  return boxes
}

/** Overwrites the content and keeps the place. */
function empty(clean: Uint8Array, { at, from, end }: Box): void {
  clean.set(Buffer.from('free'), at + 4)
  clean.fill(0, from, end)
}

const boxIn = (boxes: readonly Box[], type: string): Box | undefined => boxes.find((box) => box.type === type)

/** Returns the number of frames of the longest track. */
function framesIn(reader: Reader, { from, end }: Box, clean: Uint8Array, depth = 1): number {
  if (depth > depthMax) throw brokenPictureError('its parts are nested too deeply')
  let frames = 1
  for (const box of boxesIn(reader, from, end)) {
    if (movieDropped.has(box.type)) empty(clean, box)
    else if (containers.has(box.type)) frames = Math.max(frames, framesIn(reader, box, clean, depth + 1))
    // Version and flags, a common size, the count.
    else if (box.type === 'stsz') frames = Math.max(frames, reader.u32(box.from + 8))
  }
  return frames
}

/** Empties items that show nothing: EXIF, XMP and unknown types. */
function dropItems(reader: Reader, meta: readonly Box[], clean: Uint8Array): void {
  const infos = boxIn(meta, 'iinf')
  if (!infos) throw brokenPictureError('the description of its content is missing')
  const entries = boxesIn(reader, infos.from + (reader.u8(infos.from) === 0 ? 6 : 8), infos.end)
  const dropped = new Set<number>()
  for (const entry of entries) {
    const version = reader.u8(entry.from)
    if (entry.type !== 'infe' || version < 2) throw brokenPictureError('the description of its content is missing')
    const idBytes = version === 2 ? 2 : 4
    const typeAt = entry.from + 4 + idBytes + 2
    if (itemsKept.has(reader.text(typeAt, 4))) continue
    dropped.add(idBytes === 2 ? reader.u16(entry.from + 4) : reader.u32(entry.from + 4))
    // Readers skip an item of an unknown type.
    clean.set(Buffer.from('free'), typeAt)
    clean.fill(0, typeAt + 4, entry.end)
  }
  const data = boxIn(meta, 'idat')
  let emptied = 0
  for (const { id, inData, extents } of locationsIn(reader, boxIn(meta, 'iloc')))
    for (const { offset, length } of extents) {
      const at = inData ? (data?.from ?? reader.length) + offset : offset
      const end = at + length
      if (end > (inData ? (data?.end ?? 0) : reader.length)) throw brokenPictureError('it ends too early')
      if (!dropped.has(id)) continue
      // Items may overlap: a file may claim a million items of its own length.
      emptied += length
      if (emptied > reader.length) throw brokenPictureError('its parts overlap')
      clean.fill(0, at, end)
    }
}

type Extent = { readonly offset: number; readonly length: number }
type Location = { readonly id: number; readonly inData: boolean; readonly extents: readonly Extent[] }

/** Locations of items: in the file, or in the adjacent box. */
function locationsIn(reader: Reader, box: Box | undefined): Location[] {
  if (!box) throw brokenPictureError('the position of its data is missing')
  const version = reader.u8(box.from)
  const sizes = reader.u16(box.from + 4)
  const [offsetBytes, lengthBytes, baseBytes, indexBytes] = [
    sizes >> 12,
    (sizes >> 8) & 15,
    (sizes >> 4) & 15,
    version > 0 ? sizes & 15 : 0,
  ]
  let at = box.from + 6
  const number = (bytes: number): number => {
    at += bytes
    if (at > box.end) throw brokenPictureError('it ends too early')
    if (bytes === 0) return 0
    if (bytes === 2) return reader.u16(at - 2)
    if (bytes === 4) return reader.u32(at - 4)
    if (bytes === 8) return reader.u64(at - 8)
    throw brokenPictureError('the position of its data is missing')
  }
  const idBytes = version < 2 ? 2 : 4
  const locations: Location[] = []
  for (let left = number(idBytes); left > 0; left--) {
    reader.piece()
    const id = number(idBytes)
    const inData = version > 0 && (number(2) & 15) === 1
    number(2)
    const base = number(baseBytes)
    const extents: Extent[] = []
    // An item in the file may have no bytes.
    for (let more = number(2); more > 0; more--) {
      reader.piece()
      number(indexBytes)
      extents.push({ offset: base + number(offsetBytes), length: number(lengthBytes) })
    }
    locations.push({ id, inData, extents })
  }
  return locations
}

/** Returns the size of the primary item. No claimed size may exceed the limit. */
function primarySize(reader: Reader, meta: readonly Box[], bounds: PictureBounds): Size {
  const [primary, properties] = [boxIn(meta, 'pitm'), boxIn(meta, 'iprp')]
  if (!primary || !properties) throw brokenPictureError('the description of its content is missing')
  const id = reader.u8(primary.from) === 0 ? reader.u16(primary.from + 4) : reader.u32(primary.from + 4)
  const parts = boxesIn(reader, properties.from, properties.end)
  const propertyBox = boxIn(parts, 'ipco')
  if (!propertyBox) throw brokenPictureError('its size is missing')
  const all = boxesIn(reader, propertyBox.from, propertyBox.end)
  for (const box of all) {
    if (box.type === 'ispe') assertSize(sizeIn(reader, box), bounds)
    if (box.type === 'av1C') assertCoded(reader, box, bounds)
  }
  const indexes = parts.filter(({ type }) => type === 'ipma').flatMap((box) => propertiesOf(reader, box, id))
  const itemProperties = indexes.map((nth) => all[nth - 1])
  const size = itemProperties.find((box) => box?.type === 'ispe')
  if (!size) throw brokenPictureError('its size is missing')
  const { width, height } = sizeIn(reader, size)
  const turned = itemProperties.find((box) => box?.type === 'irot')
  return turned && reader.u8(turned.from) % 2 === 1 ? { width: height, height: width } : { width, height }
}

const sizeIn = (reader: Reader, { from }: Box): Size => ({ width: reader.u32(from + 4), height: reader.u32(from + 8) })

/** Properties of an item, by index from 1. */
function propertiesOf(reader: Reader, box: Box, id: number): number[] {
  const [version, isWide] = [reader.u8(box.from), (reader.u8(box.from + 3) & 1) === 1]
  const count = reader.u32(box.from + 4)
  let at = box.from + 8
  for (let nth = 0; nth < count; nth++) {
    reader.piece()
    const isThis = (version === 0 ? reader.u16(at) : reader.u32(at)) === id
    at += version === 0 ? 2 : 4
    const associations = reader.u8(at++)
    const indexes: number[] = []
    for (let one = 0; one < associations; one++) {
      indexes.push(isWide ? reader.u16(at) & 0x7fff : reader.u8(at) & 0x7f)
      at += isWide ? 2 : 1
    }
    if (isThis) return indexes
  }
  return []
}

const sequenceHeader = 1

/**
 * Compares the size of the coded pixels with the property, because a small claim before large pixels is an attack.
 * @throws PictureRefused
 */
function assertCoded(reader: Reader, { from, end }: Box, bounds: PictureBounds): void {
  let at = from + 4
  while (at < end) {
    const header = reader.u8(at)
    // With an extension, or without its own length, the decoder decides.
    if ((header & 0x06) !== 0x02) return
    const length = reader.u8(at + 1)
    if (length >= 0x80) return
    const [start, next] = [at + 2, at + 2 + length]
    if (((header >> 3) & 15) === sequenceHeader) {
      const size = codedSize(reader.part(start, next))
      if (size) assertSize(size, bounds)
      return
    }
    at = next
  }
}

/**
 * Returns the largest frame of a sequence header (AV1 specification, 5.5); undefined if timing information precedes it,
 * which pictures lack.
 */
function codedSize(header: Uint8Array): Size | undefined {
  let bit = 0
  const bits = (count: number): number => {
    let value = 0
    for (let nth = 0; nth < count; nth++, bit++) value = value * 2 + (((header[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
    return value
  }
  bits(4)
  if (bits(1) === 1) bits(5)
  else {
    if (bits(1) === 1) return undefined
    const hasDelays = bits(1) === 1
    for (let points = bits(5) + 1; points > 0; points--) {
      bits(12)
      if (bits(5) > 7) bits(1)
      if (hasDelays && bits(1) === 1) bits(4)
    }
  }
  const [widthBits, heightBits] = [bits(4) + 1, bits(4) + 1]
  return { width: bits(widthBits) + 1, height: bits(heightBits) + 1 }
}
