/** Kinds of settings and how their texts are read. Messages never contain a value. */
import { isIP } from 'node:net'
import { serversOf } from '../../db/hosts.ts'
import { blockOf } from '../lib/networks.ts'
import { isThisMachine, looksLikeSecret } from '../lib/processor-keys.ts'

/** @throws Error with a text that completes "NAME must be …" */
export type SettingReader = ((text: string) => unknown) & { readonly whenUnset?: unknown }

export type Setting<Field extends string, Default extends string | undefined, Reads extends SettingReader> = {
  /** The field in the configuration; of a value or a list. */
  field: Field
  type: string
  /** As an operator would write it; undefined if there is none. */
  default: Default
  meaning: string
  secret?: true
  read: Reads
}

/** Defines a setting: field, type, default, meaning and reader. */
export const setting = <Field extends string, Default extends string | undefined, Reads extends SettingReader>(
  field: Field,
  type: string,
  byDefault: Default,
  meaning: string,
  read: Reads,
): Setting<Field, Default, Reads> => ({ field, type, default: byDefault, meaning, read })
/** Defines a setting whose value is never shown; it has no default. */
export const secret = <Field extends string, Reads extends SettingReader>(
  field: Field,
  type: string,
  meaning: string,
  read: Reads,
): Setting<Field, undefined, Reads> => ({ ...setting(field, type, undefined, meaning, read), secret: true })

/** Reads `true`, `1`, `yes` or `on`, or the opposites, in any case. */
export const boolean = (text: string) => {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  if (/^(false|0|no|off)$/i.test(text)) return false
  throw new Error('true or false')
}
/** Reads a whole number; both bounds are included. */
export const integer = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) throw new Error(`a whole number from ${min} to ${max}`)
  return value
}
/**
 * Reads texts separated by commas; none if the setting is unset.
 * @param what completes "NAME must be a comma-separated list of …"
 * @param normal applied to each text before it is checked
 */
export const listOf = (what: string, valid: (item: string) => boolean, normal: (item: string) => string = (item) => item) => {
  const read = (text: string): readonly string[] => {
    const items = text.split(',').map((item) => normal(item.trim()))
    if (items.some((item) => !valid(item))) throw new Error(`a comma-separated list of ${what}`)
    return items
  }
  return Object.assign(read, { whenUnset: [] })
}
/** Returns whether a text is an IP address or a CIDR block. */
export const isCidr = (text: string) => blockOf(text) !== undefined
/** Returns whether a text is long enough for a master secret: 32 characters. */
export const isSecret = (text: string) => text.length >= 32
/** Reads a URL, and drops its query and a final slash. */
export const httpUrl = (text: string) => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) throw new Error('an http or https URL without credentials')
  return url.origin + url.pathname.replace(/\/$/, '')
}
/** Reads a URL with its query, which may contain keys. */
export const serviceUrl = (text: string) => {
  httpUrl(text)
  return new URL(text).href
}
/** Reads a URL with user name, password and database number. */
export const redisUrl = (text: string) => {
  const url = URL.parse(text)
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.hostname || !/^(\/\d{0,5})?$/.test(url.pathname) || url.search || url.hash)
    throw new Error('redis://[USER:PASSWORD@]HOST[:PORT][/NUMBER], or rediss:// for TLS')
  return text
}
/** Reads the URL of a SQLite file or of PostgreSQL servers. Connects to nothing. */
export const databaseUrl = (text: string) => {
  if (/^file:.+/.test(text)) return text
  if (serversOf(text).length === 0)
    throw new Error('file:PATH or postgres://USER:PASSWORD@HOST/DATABASE, with one HOST or several separated by commas')
  return text
}
/** Reads an absolute path of letters, digits, `_` and `-`. */
export const path = (text: string) => {
  if (!/^(\/[\w-]+)+$/.test(text)) throw new Error('a path such as /api/v3')
  return text
}
/** Reads the URL of a processor's API, which receives keys. */
export const apiUrl = (text: string) => {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (!url || !isSafe || url.username || url.password || url.search || url.hash)
    throw new Error('an https URL without credentials and query; http on this machine only')
  return url.origin + url.pathname.replace(/\/+$/, '')
}
/** Reads a header value: ASCII without spaces and quotes. */
export const token = (text: string) => {
  if (!/^[\x21\x23-\x26\x28-\x7e]{1,300}$/.test(text)) throw new Error('at most 300 characters of ASCII without spaces and quotes')
  return text
}
/** Reads a key that browsers may see. */
export const publicKey = (text: string) => {
  if (looksLikeSecret(text)) throw new Error('a publishable key: this one looks like a secret key')
  return token(text)
}
/** Reads a key that no response contains. */
export const secretKey = (text: string) => {
  if (/^pk_/i.test(text)) throw new Error('a secret key: this one looks like a publishable key')
  return token(text)
}

/**
 * Creates the reader of a key with a fixed prefix. It refuses placeholders and the keys of other fields at the start.
 * @param what such as "a Stripe secret key"
 */
export const keyWith =
  (what: string, prefixes: readonly string[], read: (text: string) => string = token) =>
  (text: string): string => {
    const key = read(text)
    if (!prefixes.some((one) => key.startsWith(one))) throw new Error(`${what}, which starts with ${prefixes.join(' or ')}`)
    return key
  }

/** Reads a header name, and returns it in lower case. */
export const headerName = (text: string) => {
  if (!/^[a-z][a-z0-9-]{0,99}$/i.test(text)) throw new Error('a header name such as cf-ipcountry')
  return text.toLowerCase()
}

/** Reads a bucket or region name of S3. */
export const bucketName = (text: string) => {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)) throw new Error('3 to 63 lowercase letters, digits, dots and hyphens')
  return text
}

/** Reads a prefix of object names. */
export const prefix = (text: string) => {
  if (!/^[\w-]{1,60}(?:\/[\w-]{1,60}){0,4}\/$/.test(text)) throw new Error('letters, digits, - and _, with a / at the end')
  return text
}

/** Reads an IP address with or without a port. An IPv6 address with a port is in brackets. */
export const nameServer = (text: string) => {
  const [, bare = '', port] = /^(\[[^\]]+\]|[^[\]]+?)(?::(\d{1,5}))?$/.exec(isIP(text) === 6 ? `[${text}]` : text) ?? []
  const address = bare.replace(/^\[|\]$/g, '')
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
  if (isIP(address) === 0 || !isPort || (isIP(address) === 6) !== bare.startsWith('['))
    throw new Error('an IP address, with or without a port, such as 9.9.9.9:53')
  return port === undefined ? address : `${bare}:${port}`
}

export const minutes = 60
export const days = 24 * 60 * minutes
