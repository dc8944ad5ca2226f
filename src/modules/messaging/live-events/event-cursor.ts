import type { Keyring } from '../../../core/keyring.ts'
import { hmac, sameSecret } from '../../../lib/seal.ts'
import { resumableMs } from './domain.ts'

/** A place as it is sent: when, where, and that it is ours. */
const form = /^([0-9a-z]{1,10})_([0-9a-z.-]{1,20000})_([0-9a-f]{16})$/
const signatureLength = 16
/** Clocks of two processes differ by so much at most. */
const aheadMaxMs = 60_000

export type Places = ReturnType<typeof createPlaces>

/** Makes `id:` of places, and places of `Last-Event-ID`. */
export function createPlaces({ keyring, now }: { readonly keyring: Pick<Keyring, 'jwt'>; readonly now: () => number }) {
  const signed = (key: Parameters<typeof hmac>[0], text: string) => hmac(key, `event ${text}`).slice(0, signatureLength)
  return {
    idOf(place: string): string {
      const [key] = keyring.jwt()
      if (!key) throw new Error('no key to sign with')
      const text = `${now().toString(36)}_${place}`
      return `${text}_${signed(key, text)}`
    },
    /** @returns where it is; undefined for what we have not made, and for what is too old */
    placeIn(id: string): { readonly place: string; readonly at: number } | undefined {
      const [, at = '', place = '', signature = ''] = form.exec(id) ?? []
      if (!keyring.jwt().some((key) => sameSecret(signed(key, `${at}_${place}`), signature))) return undefined
      const madeAt = Number.parseInt(at, 36)
      return madeAt > now() + aheadMaxMs || madeAt < now() - resumableMs ? undefined : { place, at: madeAt }
    },
  }
}
