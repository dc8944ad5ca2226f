import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { openUnderPassphrase, sealUnderPassphrase } from '../../src/lib/passphrase.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const passphrase = 'a passphrase — ünïcode'
const plain = '{"encryption":["the-key-itself"]}'
const sealed = await sealUnderPassphrase(plain, passphrase, randomBytes)
const modifiedFile = (change: (file: Record<string, unknown> & { kdf: Record<string, unknown> }) => void) => {
  const file = JSON.parse(sealed)
  change(file)
  return JSON.stringify(file)
}

test('a sealed file opens with its passphrase in any Unicode normal form', async () => {
  expect(await openUnderPassphrase(sealed, passphrase)).toEqual({ kind: 'opened', plain })
  expect(await openUnderPassphrase(sealed, passphrase.normalize('NFD'))).toEqual({ kind: 'opened', plain })
})

test('a sealed file has the documented format and does not show its content', async () => {
  const file = JSON.parse(sealed)
  expect(file).toEqual({
    format: 'souk sealed keys',
    version: 1,
    kdf: { name: 'scrypt', n: 131072, r: 8, p: 1, salt: expect.stringMatching(/^[\w+/]{22}==$/) },
    cipher: 'aes-256-gcm',
    iv: expect.stringMatching(/^[\w+/]{16}$/),
    sealed: expect.any(String),
  })
  expect(sealed).not.toContain('the-key-itself')
  expect(await sealUnderPassphrase(plain, passphrase, randomBytes)).not.toBe(sealed)
})

test('a sealed file does not open with another passphrase or after any change', async () => {
  expect(await openUnderPassphrase(sealed, `${passphrase} `)).toEqual({ kind: 'refused' })
  const flip = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
  for (const text of [
    modifiedFile((file) => Object.assign(file, { sealed: flip(JSON.parse(sealed).sealed) })),
    modifiedFile((file) => Object.assign(file, { iv: flip(JSON.parse(sealed).iv) })),
    modifiedFile((file) => Object.assign(file, { cipher: 'aes-256-cbc' })),
    modifiedFile((file) => Object.assign(file, { sealed: 'AAAA' })),
    modifiedFile((file) => Object.assign(file.kdf, { salt: flip(JSON.parse(sealed).kdf.salt) })),
    modifiedFile((file) => Object.assign(file.kdf, { n: 2 ** 30 })),
    modifiedFile((file) => Object.assign(file, { kdf: undefined })),
  ]) {
    expect(await openUnderPassphrase(text, passphrase)).toEqual({ kind: 'refused' })
  }
})

test('a file of a newer version is distinguished from a foreign one', async () => {
  expect(
    await openUnderPassphrase(
      modifiedFile((file) => Object.assign(file, { version: 2 })),
      passphrase,
    ),
  ).toEqual({ kind: 'newer' })
  for (const text of ['', 'null', '[]', '"x"', '{}', '{"jwt":[]}', modifiedFile((file) => Object.assign(file, { format: 'other' }))]) {
    expect(await openUnderPassphrase(text, passphrase)).toEqual({ kind: 'notOurs' })
  }
})
