/**
 * Seals a text with a passphrase, for a copy of the keys that leaves the machine. The result is JSON: `{ format: "souk
 * sealed keys", version: 1, kdf: { name: "scrypt", n, r, p, salt }, cipher: "aes-256-gcm", iv, sealed }`, with binary
 * values in base64.
 * The key is scrypt(passphrase in NFKC as UTF-8, salt, 32 bytes). `sealed` is the ciphertext with the 16-byte tag. The
 * associated data is the JSON before `iv`, which protects the parameters.
 */
import { createCipheriv, createDecipheriv, scrypt } from 'node:crypto'

type Head = { format: string; version: number; kdf: { name: string; n: number; r: number; p: number; salt: string }; cipher: string }
type SealedText = Head & { iv: string; sealed: string }

const format = 'souk sealed keys'
/** First choice of OWASP for scrypt (Password Storage Cheat Sheet): 128 MiB. */
const cost = { n: 2 ** 17, r: 8, p: 1 } as const
const memoryMaxBytes = 192 * 1024 * 1024
const saltBytes = 16
const ivBytes = 12
const tagBytes = 16

/** Takes 0.3 s in another thread. */
const keyOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(passphrase.normalize('NFKC'), salt, 32, { N: cost.n, r: cost.r, p: cost.p, maxmem: memoryMaxBytes }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
const associatedDataOf = ({ format, version, kdf, cipher }: Head) =>
  Buffer.from(JSON.stringify({ format, version, kdf: { name: kdf.name, n: kdf.n, r: kdf.r, p: kdf.p, salt: kdf.salt }, cipher }))

/**
 * Seals a text under a passphrase.
 * @param randomBytes cryptographically strong
 */
export async function sealUnderPassphrase(plain: string, passphrase: string, randomBytes: (count: number) => Uint8Array): Promise<string> {
  const salt = Buffer.from(randomBytes(saltBytes))
  const iv = Buffer.from(randomBytes(ivBytes))
  const head: Head = { format, version: 1, kdf: { name: 'scrypt', ...cost, salt: salt.toString('base64') }, cipher: 'aes-256-gcm' }
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt), iv).setAAD(associatedDataOf(head))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${JSON.stringify({ ...head, iv: iv.toString('base64'), sealed: sealed.toString('base64') }, null, 2)}\n`
}

type OpenedText = { kind: 'opened'; plain: string } | { kind: 'notOurs' } | { kind: 'newer' } | { kind: 'refused' }

/** Opens a sealed text. `refused`: another passphrase, or altered text. */
export async function openUnderPassphrase(text: string, passphrase: string): Promise<OpenedText> {
  const file = parse(text)
  if (file?.format !== format) return { kind: 'notOurs' }
  // One cost per version, so that a forged file cannot demand more memory.
  if (file.version !== 1) return { kind: 'newer' }
  try {
    const sealed = Buffer.from(file.sealed, 'base64')
    const key = await keyOf(passphrase, Buffer.from(file.kdf.salt, 'base64'))
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(file.iv, 'base64'), { authTagLength: tagBytes }).setAAD(
      associatedDataOf(file),
    )
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    return { kind: 'opened', plain: Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]).toString('utf8') }
  } catch {
    return { kind: 'refused' }
  }
}

function parse(text: string): SealedText | undefined {
  try {
    return (JSON.parse(text) as SealedText | null) ?? undefined
  } catch {
    return undefined
  }
}
