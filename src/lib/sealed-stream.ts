/**
 * Long secrets at rest, sealed a chunk at a time, after STREAM (Hoang, Reyhanitabar, Rogaway, Vizár 2015): each chunk is AES-256-GCM with its
 * position and whether it is the last in the nonce, so that one that is changed, left out, swapped or added, and an end that is cut
 * off, do not open. A key seals one stream and no other, since nonces are counted and not drawn.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

const magic = Buffer.from('SOUKSTR1')
/**
 * Streams here and in stores of documents hand on pieces that are whole until the next one is asked for, and gone then: 25 MB of garbage
 * are collected later than they are made.
 */

/** Plain bytes of every chunk but the last. */
export const sealedChunkBytes = 64 * 1024
const tagBytes = 16
const [positionAt, lastAt, nonceBytes] = [7, 11, 12]

/** What does not open: another key, another purpose, or bytes that were changed, cut, swapped or added. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

/** Keys of one stream, for its seal and for its hash, unrelated to each other. @param secret 32 random bytes, of this stream alone */
export function streamKeys(secret: Uint8Array): { seal: Buffer; hash: Buffer } {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'souk', `stream ${purpose}`, 32))
  return { seal: derive('seal'), hash: derive('hash') }
}

/** The key of one stream out of a secret that many have. @param salt 32 random bytes, of this stream alone */
export const derivedKey = (secret: Uint8Array, salt: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, salt, `souk ${purpose}`, 32))

/** How long a stream of so many bytes is once it is sealed. */
export const sealedLength = (bytes: number): number => magic.length + bytes + tagBytes * Math.max(1, Math.ceil(bytes / sealedChunkBytes))

/**
 * Seals a stream, so that it opens only under the same key and the same `about` (owner and purpose).
 * @param key 32 bytes that seal nothing else
 */
export async function* sealStream(key: Uint8Array, about: string, plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield magic
  const sealed = Buffer.allocUnsafe(sealedChunkBytes + tagBytes)
  yield* inTurn(plain, sealedChunkBytes, (chunk, nonce) => {
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
 * Opens what `sealStream` made. Each chunk is as it was sealed when it comes out; that none is missing is known at the end alone.
 * @throws SealBroken
 */
export async function* openStream(key: Uint8Array, about: string, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* inTurn(withoutMagic(sealed), sealedChunkBytes + tagBytes, (chunk, nonce) => {
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

/** Gives back the memory of what nobody looks at any more; of what shares its memory with others, nothing. */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** Works on a stream in chunks of the same size, the last of which may be shorter, and is empty of an empty stream alone. */
async function* inTurn(
  stream: AsyncIterable<Uint8Array>,
  size: number,
  work: (chunk: Buffer, nonce: Buffer) => Buffer,
): AsyncGenerator<Uint8Array> {
  const held = Buffer.allocUnsafe(size)
  let [length, position] = [0, 0]
  for await (const piece of stream) {
    for (let at = 0; at < piece.length; ) {
      // Only once more has come it is known not to be the last.
      if (length === size) {
        yield work(held, nonceOf(position++, false))
        length = 0
      }
      const part = piece.subarray(at, at + size - length)
      held.set(part, length)
      length += part.length
      at += part.length
    }
  }
  yield work(held.subarray(0, length), nonceOf(position, true))
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
 * What passes through, hashed on its way, in pieces of at most a chunk: whoever does the next thing with them may let others have a turn.
 * @param onEnd told HMAC-SHA-256 in hex and the number of bytes once all has passed
 */
export async function* hashing(
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
