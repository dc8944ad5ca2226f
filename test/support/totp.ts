/** An authenticator app, implemented from RFC 6238 and RFC 4648 without code of the program. */
import { createHmac } from 'node:crypto'
import type { TestApp } from './app.ts'
import { ok } from './selling.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Returns the code for a secret (base32) at a time. @param steps offset in steps of 30 seconds */
export function codeAt(secret: string, at: number, steps = 0): string {
  const counter = (Math.floor(at / 30_000) + steps).toString(16).padStart(16, '0')
  const hash = createHmac('sha1', bytesOf(secret)).update(Buffer.from(counter, 'hex')).digest('hex')
  const offset = Number.parseInt(hash.slice(-1), 16) * 2
  const number = BigInt(`0x${hash.slice(offset, offset + 8)}`) & 0x7fffffffn
  return String(number % 1_000_000n).padStart(6, '0')
}

type Person = { readonly token: string; readonly password: string }

/** Starts the setup of a second factor. Returns its secret. */
export const beginTotp = async (app: TestApp, { token, password }: Person): Promise<string> =>
  ok(await app.call('POST', '/auth/totp', { token, body: { password } }), 201).body.secret

/** Enables a second factor. This uses up the code of the current step. */
export async function enableTotp(app: TestApp, person: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
  const secret = await beginTotp(app, person)
  const code = codeAt(secret, app.clock.now())
  const { body } = ok(await app.call('POST', '/auth/totp/confirm', { token: person.token, body: { code } }))
  return { secret, recoveryCodes: body.recoveryCodes }
}
