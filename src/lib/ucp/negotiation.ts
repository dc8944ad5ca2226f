/** Reads platforms' profiles, and computes the capabilities that shop and platform have in common. */

import { createPublicKey, type KeyObject } from 'node:crypto'
import { isRecord } from '../json.ts'
import { UcpError } from './errors.ts'
import {
  type Capability,
  capabilities,
  capabilityNames,
  capabilityOf,
  fullNameOf,
  isRelease,
  type Release,
  releaseRules,
} from './releases.ts'

/** A key that a profile publishes. */
export type PlatformKey = {
  readonly kid: string
  /** Null for a key of another kind or use. */
  readonly key: KeyObject | null
}

/** What souk reads of a platform's profile. */
export type PlatformProfile = {
  readonly release: Release
  readonly keys: readonly PlatformKey[]
  /** Capabilities that souk knows, with those that each extends by the profile; undefined stands for an unknown one. */
  readonly capabilities: ReadonlyMap<Capability, readonly (Capability | undefined)[]>
  /** URL for messages about orders; null if the profile names none at its own host. */
  readonly webhookUrl: string | null
}

const keysMax = 20
const entriesMax = 20
const kidLengthMax = 255
const urlLengthMax = 2_048

type Fields = Readonly<Record<string, unknown>>
const malformed = (content: string) => new UcpError('profile_malformed', content)

/**
 * Reads a platform's profile. Ignores what souk does not know.
 * @param url where it was fetched
 * @throws UcpError profile_malformed, version_unsupported
 */
export function parseProfile(document: unknown, url: URL): PlatformProfile {
  const ucp = isRecord(document) ? document['ucp'] : undefined
  if (!isRecord(document) || !isRecord(ucp)) throw malformed('The profile must be a JSON object with a field ucp.')
  const { version, capabilities: declared = {} } = ucp
  if (typeof version !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(version)) throw malformed('The profile must name a version.')
  if (!isRelease(version)) throw new UcpError('version_unsupported', 'The version of the profile is not supported.')
  if (!isRecord(declared)) throw malformed('The capabilities of the profile must be an object.')
  const entries = capabilityNames.flatMap((name) => {
    const entry = entryOf(declared[fullNameOf(name)], fullNameOf(name), version)
    return entry ? [{ name, entry }] : []
  })
  const order = entries.find(({ name }) => name === 'order')?.entry
  return {
    release: version,
    keys: keysOf(document[releaseRules[version].keysField]),
    capabilities: new Map(entries.map(({ name, entry }) => [name, textsOf(entry['extends']).map(capabilityOf)])),
    webhookUrl: webhookUrlOf(order?.['config'], url),
  }
}

/** Returns the declaration of a capability for a release. */
function entryOf(declared: unknown, name: string, release: Release): Fields | undefined {
  if (!Array.isArray(declared)) return undefined
  return declared
    .slice(0, entriesMax)
    .filter(isRecord)
    .find(({ version, schema }) => version === release && (schema === undefined || isSchemaOf(schema, name)))
}

/** Requires that a name begins with the reversed host of its schema: only its owner declares a capability. */
function isSchemaOf(schema: unknown, name: string): boolean {
  const url = typeof schema === 'string' ? URL.parse(schema) : null
  return url?.protocol === 'https:' && name.startsWith(`${url.hostname.split('.').reverse().join('.')}.`)
}

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).slice(0, entriesMax).filter((text) => typeof text === 'string')

function keysOf(declared: unknown): PlatformKey[] {
  if (declared === undefined) return []
  if (!Array.isArray(declared) || declared.length > keysMax)
    throw malformed(`The keys of the profile must be a list of at most ${keysMax}.`)
  return declared.filter(isRecord).flatMap((jwk): PlatformKey[] => {
    const { kid, kty, crv, use = 'sig', alg = 'ES256', x, y } = jwk
    if (typeof kid !== 'string' || kid.length > kidLengthMax || 'd' in jwk) return []
    if (kty !== 'EC' || crv !== 'P-256' || use !== 'sig' || alg !== 'ES256') return [{ kid, key: null }]
    const key = typeof x === 'string' && typeof y === 'string' ? publicKeyOf({ kty, crv, x, y }) : undefined
    return key ? [{ kid, key }] : []
  })
}

/** Returns undefined for a point that is not on the curve. */
function publicKeyOf(jwk: { kty: 'EC'; crv: 'P-256'; x: string; y: string }): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}

function webhookUrlOf(config: unknown, profile: URL): string | null {
  const url = isRecord(config) ? webUrlOf(config['webhook_url']) : undefined
  return url?.hostname === profile.hostname ? url.href : null
}

/** Parses an address that a platform names; undefined unless it is one of http or https without credentials. */
export function webUrlOf(text: unknown): URL | undefined {
  const url = typeof text === 'string' && text.length <= urlLengthMax ? URL.parse(text) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  return url && isWeb && url.username === '' && url.password === '' ? url : undefined
}

/**
 * Returns the capabilities that the shop and a platform have in common. An extension needs one of the capabilities that
 * it extends, as either side declares it.
 * @param offered capabilities of the shop
 */
export function commonCapabilities(offered: ReadonlySet<Capability>, profile: Pick<PlatformProfile, 'capabilities'>): Set<Capability> {
  const common = new Set([...profile.capabilities.keys()].filter((name) => offered.has(name)))
  const hasParent = (parents: readonly (Capability | undefined)[]) =>
    parents.length === 0 || parents.some((parent) => parent !== undefined && common.has(parent))
  const isOrphan = (name: Capability) => !hasParent(capabilities[name]) || !hasParent(profile.capabilities.get(name) ?? [])
  for (let before = -1; before !== common.size; ) {
    before = common.size
    for (const name of common) if (isOrphan(name)) common.delete(name)
  }
  return common
}
