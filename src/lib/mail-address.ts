/** E-mail addresses for headers and mail servers, with RFC 6531 local parts and IDNA domains. */
import { isIpv4 } from './networks.ts'
import { isSameValue } from './objects.ts'
import { plainText } from './plain-text.ts'
import { searchTermsOf } from './search-terms.ts'

const nameMax = 200
const localMax = 64
const addressMax = 254

const atext = String.raw`[A-Za-z0-9!#$%&'*+\/=?^_\{\|\}~\x60\-]`
const dotted = (character: string) => new RegExp(String.raw`^${character}+(?:\.${character}+)*$`, 'v')
const asciiLocalPart = dotted(atext)
/** A local part without quotes (RFC 5321, 4.1.2; RFC 6531, 3.3): ASCII or any other visible character. */
const localPart = dotted(String.raw`[${atext}[^\x00-\x7f\p{C}\p{Z}]]`)
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostName = new RegExp(String.raw`^${label}(?:\.${label})*$`, 'i')
/** Characters of an international host name. Its dots may be ideographic. */
const international = /^[\p{L}\p{M}\p{N}.\-。．｡]+$/v

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** Tests ASCII by a pattern of its own, because the tables of Unicode take 25 ms to compile. */
const isLocalPart = (text: string): boolean => (isAscii(text) ? asciiLocalPart : localPart).test(text)

/** Converts a domain to lower-case ASCII (IDNA, UTS 46); undefined if it is not a host name. */
function asciiDomain(domain: string): string | undefined {
  if (isAscii(domain)) return hostName.test(domain) ? domain.toLowerCase() : undefined
  const ascii = international.test(domain) ? URL.parse(`http://${domain}/`)?.hostname : undefined
  return ascii !== undefined && hostName.test(ascii) && !isIpv4(ascii) ? ascii : undefined
}

/** Converts a local part to NFC and lower case; undefined if it is invalid. */
function normalLocal(text: string): string | undefined {
  // A compatibility form of another character, such as a full-width `<`, must be valid as that character too.
  if (!isLocalPart(text.normalize('NFKC'))) return undefined
  const normal = text.normalize('NFC').toLowerCase().normalize('NFC')
  return isLocalPart(normal) && Buffer.byteLength(normal) <= localMax ? normal : undefined
}

/** Normalizes an address; undefined if it is invalid. */
function normalOf(text: string): string | undefined {
  if (text.length > addressMax) return undefined
  const at = text.lastIndexOf('@')
  const local = normalLocal(text.slice(0, Math.max(at, 0)))
  const domain = local === undefined ? undefined : asciiDomain(text.slice(at + 1))
  if (local === undefined || domain === undefined) return undefined
  const normal = `${local}@${domain}`
  return normal.length <= addressMax ? normal : undefined
}

/**
 * Checks for a valid address of at most 254 characters, with at most 64 bytes before the `@`. It cannot end a header or
 * a command.
 */
export const isMailAddress = (text: string): boolean => normalOf(text) !== undefined

/** Returns the form in which addresses are compared: NFC, lower case, the domain in ASCII. */
export function normalMailAddress(text: string): string {
  const trimmed = text.trim()
  return normalOf(trimmed) ?? trimmed.normalize('NFC').toLowerCase()
}

const gmailDomains: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com'])

/**
 * Returns the mailbox that receives mail to an address, as far as its spelling tells: without a tag (`ann+shop@`), and
 * at Gmail without dots. For counting only: some servers deliver these spellings to different mailboxes.
 */
export function mailboxOf(address: string): string {
  const normal = normalMailAddress(address)
  const at = normal.lastIndexOf('@')
  const [local, domain] = [normal.slice(0, Math.max(at, 0)), normal.slice(at + 1)]
  const untagged = local.replace(/(?<=.)\+.*$/s, '')
  return gmailDomains.has(domain) ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged}@${domain}`
}

/**
 * Returns the stored form: ASCII addresses as typed, international ones normalised, because SQL `lower()` handles ASCII
 * only.
 */
export const storedMailAddress = (text: string): string => (isAscii(text) ? text : normalMailAddress(text))

/**
 * Returns the terms of a search. If it is a mail domain with other letters than ASCII, also the terms of its stored
 * form: `bücher.example` is stored as `xn--bcher-kva.example`.
 */
export function queryTermsOf(q: string, most: number): { words: string[]; domainWords?: string[] } {
  const words = searchTermsOf(q, most)
  const domainWords = searchTermsOf(asciiDomain(q) ?? '', most)
  return domainWords.length === 0 || isSameValue(words, domainWords) ? { words } : { words, domainWords }
}

/** Returns whether only a mail server with SMTPUTF8 can take mail for an address. */
export const needsSmtpUtf8 = (address: string): boolean => !isAscii(address)

const nameAndAddress = /^([^<>]*)<([^<>]+)>$/

/** Parses `address` or `Name <address>`; undefined for other text. */
export function senderOf(text: string): { name: string | undefined; address: string } | undefined {
  const [, name = '', inner = text] = nameAndAddress.exec(text.trim()) ?? []
  const plain = inner.trim()
  if (!isMailAddress(plain) || plainText(name, nameMax) !== name.trim()) return undefined
  return { name: name.trim().replace(/^"(.*)"$/, '$1') || undefined, address: storedMailAddress(plain) }
}
/** Returns whether a text is `address` or `Name <address>`. */
export const isSender = (text: string): boolean => senderOf(text) !== undefined
