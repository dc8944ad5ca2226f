/**
 * A backup store that seals files on write and opens them on read. Readers of the underlying store see names, sizes and
 * times only. Format: `SOUKBAK1`, the 8-character key id, 32 random bytes, and a sealed stream (lib/sealed-stream.ts).
 * Its key is derived from both and bound to the name, so that a file does not open under another name.
 */
import { derivedKey, openStream, SealBroken, sealedChunkBytes, sealStream } from '../lib/sealed-stream.ts'
import type { BackupStore } from './backup-store.ts'

/** A key that seals backups. */
export type BackupKey = {
  /** Eight hex digits. */
  readonly id: string
  /** 32 random bytes. */
  readonly secret: Uint8Array
}

/** The current key, and older ones that open earlier files. */
export type BackupKeys = {
  /** Seals new files. */
  readonly current: BackupKey
  of(id: string): BackupKey | undefined
}

/** Magic bytes of a sealed file. */
export const sealedMagic = 'SOUKBAK1'
const [idBytes, saltBytes, tagBytes] = [8, 32, 16]
const purpose = 'backup'
const headBytes = sealedMagic.length + idBytes + saltBytes

/** Returns the plain size of a sealed file. */
function plainLength(sealed: number): number {
  const body = Math.max(0, sealed - headBytes - sealedMagic.length)
  return Math.max(0, body - tagBytes * Math.ceil(body / (sealedChunkBytes + tagBytes)))
}

/**
 * Wraps a store so that its files are sealed. `get` throws SealBroken for files that are unsealed, altered or under
 * another key.
 */
export function createSealedStore(store: BackupStore, keys: BackupKeys, randomBytes: (count: number) => Uint8Array): BackupStore {
  async function* seal(name: string, plain: AsyncIterable<Uint8Array>, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    const { id, secret } = keys.current
    const salt = randomBytes(saltBytes)
    yield Buffer.concat([Buffer.from(sealedMagic), Buffer.from(id), salt])
    yield* sealStream(derivedKey(secret, salt, purpose), name, counted(plain, onBytes))
  }

  async function* open(name: string, sealed: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      let head = Buffer.alloc(0)
      let rest: Uint8Array = new Uint8Array()
      while (head.length < headBytes) {
        const { done, value } = await sealed.next()
        if (done) throw new SealBroken('not a sealed copy')
        const missing = headBytes - head.length
        head = Buffer.concat([head, value.subarray(0, missing)])
        rest = value.subarray(missing)
      }
      if (head.toString('latin1', 0, sealedMagic.length) !== sealedMagic) throw new SealBroken('not a sealed copy')
      const key = keys.of(head.toString('latin1', sealedMagic.length, sealedMagic.length + idBytes))
      if (!key) throw new SealBroken('sealed under another passphrase')
      yield* openStream(derivedKey(key.secret, head.subarray(-saltBytes), purpose), name, following(rest, sealed))
    } finally {
      await sealed.return(undefined)
    }
  }

  return {
    kind: store.kind,
    place: store.place,
    async put(name, chunks, expected) {
      let bytes = 0
      await store.put(
        name,
        seal(name, chunks, (count) => {
          bytes += count
        }),
        expected,
      )
      return bytes
    },
    async get(name) {
      const stored = await store.get(name)
      return stored && { bytes: plainLength(stored.bytes), chunks: () => open(name, stored.chunks()) }
    },
    delete: (name) => store.delete(name),
    async *list(prefix) {
      for await (const one of store.list(prefix)) yield { ...one, bytes: plainLength(one.bytes) }
    },
    free: () => store.free(),
  }
}

async function* counted(chunks: AsyncIterable<Uint8Array>, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    onBytes(chunk.length)
    yield chunk
  }
}

async function* following(first: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* others
}
