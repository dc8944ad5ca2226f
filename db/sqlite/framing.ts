/** Bytes packed in pieces, each behind its length, so that they are packed, sent and unpacked a piece at a time. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const lengthBytes = 4
/** Of a piece, packed or not. */
export const pieceMaxBytes = 8 * 1024 * 1024

/** What does not unpack: it was changed or cut. */
export class NotPacked extends Error {
  override readonly name = 'NotPacked'
}

/** A piece behind its length. */
export function packed(bytes: Uint8Array): Uint8Array {
  const body = zstdCompressSync(bytes)
  const piece = new Uint8Array(lengthBytes + body.length)
  new DataView(piece.buffer).setUint32(0, body.length)
  piece.set(body, lengthBytes)
  return piece
}

/** The pieces in a stream, unpacked. @throws NotPacked */
export async function* unpacked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of inPieces(chunks)) {
    let plain: Uint8Array
    try {
      plain = zstdDecompressSync(piece, { maxOutputLength: pieceMaxBytes })
    } catch {
      throw new NotPacked('a piece does not unpack')
    }
    yield plain
  }
}

/** What stands behind each length. @throws NotPacked */
export async function* inPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    for (;;) {
      if (held.length < lengthBytes) break
      const length = held.readUInt32BE(0)
      if (length > pieceMaxBytes) throw new NotPacked('a piece is too long')
      if (held.length < lengthBytes + length) break
      yield held.subarray(lengthBytes, lengthBytes + length)
      held = held.subarray(lengthBytes + length)
    }
  }
  if (held.length > 0) throw new NotPacked('the last piece is cut off')
}
