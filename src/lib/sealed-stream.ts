/**
 * Seals long data in chunks, after STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015). Each chunk is AES-256-GCM; its
 * nonce contains the position and whether it is the last. Changed, missing, swapped, added and truncated chunks do not
 * open. Nonces are counters, so each key seals one stream only.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

const magic = Buffer.from('SOUKSTR1')
/**
 * Streams and document stores yield chunks that are valid until the next one is requested and released then. Otherwise
 * garbage accumulates faster than it is collected.
 */

/** Plain bytes of every chunk except the last. */
export const sealedChunkBytes = 64 * 1024
const tagBytes = 16
const [positionAt, lastAt, nonceBytes] = [7, 11, 12]

/** The stream does not open: another key or purpose, or changed bytes. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

/**
 * Derives the seal key and the hash key of one stream.
 * @param secret 32 random bytes for this stream only
 */
export function streamKeys(secret: Uint8Array): { seal: Buffer; hash: Buffer } {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'souk', `stream ${purpose}`, 32))
  return { seal: derive('seal'), hash: derive('hash') }
}

/**
 * Derives the key of one stream from a shared secret.
 * @param salt 32 random bytes for this stream only
 */
export const derivedKey = (secret: Uint8Array, salt: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, `souk ${purpose}`, 32))

/** Returns the sealed length of a stream. */
export const sealedLength = (bytes: number): number => magic.length + bytes + tagBytes * Math.max(1, Math.ceil(bytes / sealedChunkBytes))

/**
 * Seals a stream. It opens only with the same key and the same `about` (owner and purpose).
 * @param key 32 bytes that seal nothing else
 */
export async function* sealStream(key: Uint8Array, about: string, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield magic
  const sealed = Buffer.allocUnsafe(sealedChunkBytes + tagBytes)
  yield* inChunks(plain, sealedChunkBytes, (chunk, nonce) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
    const body = cipher.update(chunk)
    sealed.set(body)
    release(body)
    cipher.final()
    sealed.set(cipher.getAuthTag(), chunk.length)
    return sealed.subarray(0, chunk.length + tagBytes)
  })
}

/**
 * Opens a sealed stream. Each yielded chunk is authentic, but truncation is detected only at the end.
 * @throws SealBroken
 */
export async function* openStream(key: Uint8Array, about: string, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* inChunks(withoutMagic(sealed), sealedChunkBytes + tagBytes, (chunk, nonce) => {
    if (chunk.length < tagBytes) throw new SealBroken('a sealed stream is cut off')
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
    decipher.setAuthTag(chunk.subarray(-tagBytes))
    try {
      return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()])
    } catch {
      throw new SealBroken('a sealed stream does not open')
    }
  })
}

/** Frees the memory of an unused buffer; does nothing for a view of a larger one. */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Processes a stream in chunks of `size`. The last one may be shorter; it is empty only for an empty stream. */
async function* inChunks(
  stream: AsyncIterable<Uint8Array>,
  size: number,
  work: (chunk: Buffer, nonce: Buffer) => Buffer,
): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(size)
  let [length, position] = [0, 0]
  for await (const piece of stream) {
    for (let at = 0; at < piece.length; ) {
      // A full chunk is not the last one if more bytes arrive.
      if (length === size) {
        yield work(buffer, nonceOf(position++, false))
        length = 0
      }
      const part = piece.subarray(at, at + size - length)
      buffer.set(part, length)
      length += part.length
      at += part.length
    }
  }
  yield work(buffer.subarray(0, length), nonceOf(position, true))
}

function nonceOf(position: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(nonceBytes)
  nonce.writeUInt32BE(position, positionAt)
  nonce[lastAt] = isLast ? 1 : 0
  return nonce
}

async function* withoutMagic(sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let start = Buffer.alloc(0)
  for await (const piece of sealed) {
    if (start.length === magic.length) {
      yield piece
      continue
    }
    const missing = magic.length - start.length
    start = Buffer.concat([start, piece.subarray(0, missing)])
    if (start.length === magic.length && piece.length > missing) yield piece.subarray(missing)
  }
  if (!start.equals(magic)) throw new SealBroken('not a sealed stream')
}

/**
 * Passes a stream through and hashes it, in pieces of at most one chunk.
 * @param onEnd called at the end with the HMAC-SHA-256 in hex and the length
 */
export async function* withHash(
  key: Uint8Array,
  stream: AsyncIterable<Uint8Array>,
  onEnd: (hash: string, bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const hmac = createHmac('sha256', key)
  let bytes = 0
  for await (const piece of stream) {
    for (let at = 0; at < piece.length; at += sealedChunkBytes) {
      const part = piece.subarray(at, at + sealedChunkBytes)
      hmac.update(part)
      bytes += part.length
      yield part
    }
  }
  onEnd(hmac.digest('hex'), bytes)
}
