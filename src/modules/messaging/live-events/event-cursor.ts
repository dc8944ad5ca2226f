import type { Keyring } from '../../../core/keyring.ts'
import { hmac, sameSecret } from '../../../lib/seal.ts'
import { resumableMs } from './domain.ts'

/** The format of an event id: time, cursor and signature. */
const idFormat = /^([0-9a-z]{1,10})_([0-9a-z.-]{1,20000})_([0-9a-f]{16})$/
const signatureLength = 16
/** The largest difference between the clocks of two processes. */
const aheadMaxMs = 60_000

export type EventCursors = ReturnType<typeof createEventCursors>

/** Signs cursors as event ids and verifies `Last-Event-ID`. */
export function createEventCursors({ keyring, now }: { readonly keyring: Pick<Keyring, 'jwt'>; readonly now: () => number }) {
  const sign = (key: Parameters<typeof hmac>[0], text: string) => hmac(key, `event ${text}`).slice(0, signatureLength)
  return {
    idOf(cursor: string): string {
      const [key] = keyring.jwt()
      if (!key) throw new Error('no key to sign with')
      const text = `${now().toString(36)}_${cursor}`
      return `${text}_${sign(key, text)}`
    },
    /** Returns the cursor; undefined if the signature is wrong or it is too old. */
    parseId(id: string): { readonly cursor: string; readonly at: number } | undefined {
      const [, at = '', cursor = '', signature = ''] = idFormat.exec(id) ?? []
      if (!keyring.jwt().some((key) => sameSecret(sign(key, `${at}_${cursor}`), signature))) return undefined
      const madeAt = Number.parseInt(at, 36)
      return madeAt > now() + aheadMaxMs || madeAt < now() - resumableMs ? undefined : { cursor, at: madeAt }
    },
  }
}
