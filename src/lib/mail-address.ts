/** Addresses of mails, as headers and mail servers take them. */
import { plainText } from './outside-text.ts'

const nameMax = 200

/** A local part without quotes (RFC 5321, 4.1.2), `@`, and a host name; ASCII, as a server without SMTPUTF8 takes it. */
const local = String.raw`[a-z0-9!#$%&'*+/=?^_{|}~\x60-]+(?:\.[a-z0-9!#$%&'*+/=?^_{|}~\x60-]+)*`
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const address = new RegExp(String.raw`^${local}@${label}(?:\.${label})*$`, 'i')

/** Whether a mail may be sent there: nothing in it can end a header or a command. At most 254 characters, 64 of them before the `@`. */
export const isMailAddress = (text: string): boolean => text.length <= 254 && text.indexOf('@') <= 64 && address.test(text)

const named = /^([^<>]*)<([^<>]+)>$/

/** `address` or `Name <address>`, taken apart; undefined where it is neither. */
export function senderOf(text: string): { name: string | undefined; address: string } | undefined {
  const [, name = '', inner = text] = named.exec(text.trim()) ?? []
  const plain = inner.trim()
  if (!isMailAddress(plain) || plainText(name, nameMax) !== name.trim()) return undefined
  return { name: name.trim().replace(/^"(.*)"$/, '$1') || undefined, address: plain }
}
export const isSender = (text: string): boolean => senderOf(text) !== undefined
