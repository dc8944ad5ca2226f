/** Compresses bytes in length-prefixed pieces. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const lengthBytes = 4
/** Maximum size of a piece, compressed or not. */
const pieceMaxBytes = 8 * 1024 * 1024

/** The data was altered or truncated. */
class NotPacked extends Error {
  override readonly name = 'NotPacked'
}

/** Compresses a piece and prefixes its length. */
export function packPiece(bytes: Uint8Array): Uint8Array {
  const body = zstdCompressSync(bytes)
  const piece = new Uint8Array(lengthBytes + body.length)
  new DataView(piece.buffer).setUint32(0, body.length)
  piece.set(body, lengthBytes)
  return piece
}

/**
 * Decompresses the pieces of a stream.
 * @throws NotPacked
 */
export async function* unpackPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of splitPieces(chunks)) {
    let plain: Uint8Array
    try {
      plain = zstdDecompressSync(piece, { maxOutputLength: pieceMaxBytes })
    } catch {
      throw new NotPacked('a piece does not unpack')
    }
    yield plain
  }
}

/**
 * Splits a stream by the length prefixes.
 * @throws NotPacked
 */
async function* splitPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
