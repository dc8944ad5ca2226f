/** HTTP Message Signatures (RFC 9421) with ES256, and Content-Digest (RFC 9530). */
import { createHash, type KeyObject, sign, verify } from 'node:crypto'
import { type BareItem, type Item, isInnerList, serializeInnerList, serializeItem } from 'structured-headers'
import { dictionaryOf, rawMembersOf } from './structured-fields.ts'
import type { SigningKey } from './ucp/signing-key.ts'

/** A message as its sender saw it: behind a proxy, the host is the public one. */
export type HttpMessage = {
  readonly method: string
  readonly url: URL
  readonly headers: Pick<Headers, 'get'>
  /** Of a response. */
  readonly status?: number
}

/** One signature of a message, not verified. */
export type ReceivedSignature = {
  readonly label: string
  readonly components: readonly Item[]
  readonly params: ReadonlyMap<string, BareItem>
  /** Value of `@signature-params` as it was received. */
  readonly received: string
  readonly bytes: Uint8Array
}

const signaturesMax = 5
const componentsMax = 32
const p256SignatureBytes = 64

/** Parses the headers of a message's signatures; undefined if they are malformed, or too many. */
export function signaturesOf(signatureInput: string, signature: string): ReceivedSignature[] | undefined {
  const inputs = dictionaryOf(signatureInput)
  const values = dictionaryOf(signature)
  if (!inputs || !values || inputs.size > signaturesMax) return undefined
  const inputTexts = new Map(rawMembersOf(signatureInput))
  const signatures: ReceivedSignature[] = []
  for (const [label, list] of inputs) {
    const value = values.get(label)?.[0]
    if (!isInnerList(list) || list[0].length > componentsMax || !(value instanceof ArrayBuffer)) return undefined
    const [components, params] = list
    signatures.push({ label, components, params, received: inputTexts.get(label) ?? '', bytes: new Uint8Array(value) })
  }
  return signatures
}

/** Returns whether a signature covers a component. @param partly whether one member of the field suffices */
export function covers({ components }: Pick<ReceivedSignature, 'components'>, name: string, partly = false): boolean {
  return components.some(([item, params]) => item === name && (params.size === 0 || (partly && params.size === 1 && params.has('key'))))
}

const derived: Readonly<Record<string, (message: HttpMessage) => string | undefined>> = {
  '@method': ({ method }) => method,
  '@authority': ({ url }) => url.host,
  '@scheme': ({ url }) => url.protocol.slice(0, -1),
  '@target-uri': ({ url }) => url.href,
  '@request-target': ({ url }) => url.pathname + url.search,
  '@path': ({ url }) => url.pathname,
  // An absent query is `?` (RFC 9421, 2.2.7).
  '@query': ({ url }) => url.search || '?',
  '@status': ({ status }) => status?.toString(),
}

/** Name of a header in lower case. */
const fieldName = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

/** Returns the value of a component; undefined if the message lacks it, or if it is not supported. */
function componentValue([name, params]: Item, message: HttpMessage): string | undefined {
  if (typeof name !== 'string') return undefined
  if (name.startsWith('@')) return params.size === 0 && Object.hasOwn(derived, name) ? derived[name]?.(message) : undefined
  if (!fieldName.test(name)) return undefined
  const field = message.headers.get(name) ?? undefined
  if (params.size === 0 || field === undefined) return field
  const key = params.get('key')
  const member = params.size === 1 && typeof key === 'string' ? dictionaryOf(field)?.get(key) : undefined
  if (!member) return undefined
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member)
}

/** Returns the lines of the signature base above `@signature-params`; undefined if a component has no value. */
function linesOf(components: readonly Item[], message: HttpMessage): string | undefined {
  const lines = new Map<string, string>()
  for (const component of components) {
    const value = componentValue(component, message)
    // Names that have a value need no escapes.
    const identifier = component[1].size === 0 ? `"${component[0]}"` : serializeItem(component)
    if (value === undefined || lines.has(identifier)) return undefined
    lines.set(identifier, value)
  }
  return [...lines].map(([identifier, value]) => `${identifier}: ${value}\n`).join('')
}

/** The bytes that are signed. Header values are bytes, which `latin1` keeps. */
const baseOf = (lines: string, params: string) => Buffer.from(`${lines}"@signature-params": ${params}`, 'latin1')

const ieee = (key: KeyObject) => ({ key, dsaEncoding: 'ieee-p1363' }) as const

/** Verifies a signature by a P-256 key. */
export function verifySignature(signature: ReceivedSignature, message: HttpMessage, key: KeyObject): boolean {
  const { bytes, components, received, params } = signature
  const lines = bytes.length === p256SignatureBytes ? linesOf(components, message) : undefined
  if (lines === undefined) return false
  const isSigned = (form: string) => verify('sha256', baseOf(lines, form), ieee(key), bytes)
  if (isSigned(received)) return true
  // The signer may have written another form than it signed.
  const canonical = serializeInnerList([[...components], new Map(params)])
  return canonical !== received && isSigned(canonical)
}

/** Returns the header `Content-Digest` of a body. */
export const contentDigest = (body: string | Uint8Array): string => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`

/** Returns whether a header holds the SHA-256 digest of a body. Other digests are not read. */
export function isDigestOf(header: string, body: Uint8Array): boolean {
  const digests = dictionaryOf(header)
  const value = digests?.get('sha-256')?.[0]
  // An algorithm that is there twice could be read either way.
  if (!(value instanceof ArrayBuffer) || digests?.size !== rawMembersOf(header).length) return false
  return createHash('sha256').update(body).digest().equals(new Uint8Array(value))
}

/**
 * Signs a message over its method, authority, path, query and all given headers.
 * @param headers lower-case names; the digest of the body is added
 * @param created seconds since the epoch
 * @returns the headers to send
 */
export function signMessage(
  { method, url, headers, body }: { method: string; url: URL; headers: Readonly<Record<string, string>>; body: string },
  { kid, privateKey }: SigningKey,
  created: number,
): Record<string, string> {
  const allHeaders = new Headers({ ...headers, 'content-digest': contentDigest(body) })
  const names = ['@method', '@authority', '@path', ...(url.search === '' ? [] : ['@query']), ...allHeaders.keys()]
  const components = names.map((name): Item => [name, new Map()])
  const params = serializeInnerList([components, new Map<string, BareItem>(Object.entries({ created, keyid: kid }))])
  const base = baseOf(linesOf(components, { method, url, headers: allHeaders }) ?? '', params)
  const signature = sign('sha256', base, ieee(privateKey)).toString('base64')
  return { ...Object.fromEntries(allHeaders), 'signature-input': `sig1=${params}`, signature: `sig1=:${signature}:` }
}
