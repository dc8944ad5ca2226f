/** The grants of a souk as a file: `souk chain registry` writes it, `souk chain verify` reads it. */
import { isSchemaName } from '../lib/eas.ts'
import { addressForm } from '../lib/evm.ts'
import { instantPattern, parseInstant } from '../lib/instant.ts'
import { isRecord, parseJson } from '../lib/json.ts'
import { type Grant, registryHash } from '../modules/trust/fabric/domain.ts'

/** Returns one grant per line in the order of the hash, so that files can be compared. */
export function formatRegistry(grants: readonly Grant[]): string {
  const lines = grants.map(({ address, schema, fromAt, toAt }) =>
    JSON.stringify({ address, schema, from: isoOf(fromAt), to: toAt === null ? null : isoOf(toAt) }),
  )
  return `{\n"registryHash": "${registryHash(grants)}",\n"grants": [${lines.length > 0 ? `\n${lines.join(',\n')}\n` : ''}]\n}\n`
}

const isoOf = (ms: number) => new Date(ms).toISOString()

/**
 * Parses a registry file.
 * @returns the grants and their hash, or the problem without any values
 */
export function readRegistry(text: string): { readonly grants: Grant[]; readonly hash: string } | { readonly problem: string } {
  const file = parseJson(text)
  if (!isRecord(file) || !hasOnly(file, ['registryHash', 'grants'])) return { problem: 'it must be { "registryHash", "grants" } only' }
  const { registryHash: statedHash, grants: list } = file
  if (!Array.isArray(list)) return { problem: 'its grants must be a list' }
  const grants: Grant[] = []
  for (const [at, one] of list.entries()) {
    const grant = parseGrant(one)
    if (!grant)
      return {
        problem: `grant ${at + 1} must be { "address", "schema", "from", "to" }: a lowercase address, A to D, and times; "to" may be null`,
      }
    grants.push(grant)
  }
  const hash = registryHash(grants)
  if (hash !== statedHash) return { problem: `the hash of its grants is ${hash}, but the file states another: it was changed` }
  return { grants, hash }
}

function parseGrant(value: unknown): Grant | undefined {
  if (!isRecord(value) || !hasOnly(value, ['address', 'schema', 'from', 'to'])) return undefined
  const { address, schema, from, to } = value
  if (typeof address !== 'string' || !new RegExp(addressForm.pattern).test(address) || address !== address.toLowerCase()) return undefined
  const [fromAt, toAt] = [parseTime(from), to === null ? null : parseTime(to)]
  if (!isSchemaName(schema) || fromAt === undefined || toAt === undefined) return undefined
  return { address, schema, fromAt, toAt }
}

function parseTime(value: unknown): number | undefined {
  const ms = typeof value === 'string' && new RegExp(instantPattern).test(value) ? parseInstant(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

const hasOnly = (record: object, names: readonly string[]) =>
  Object.keys(record).length === names.length && names.every((name) => Object.hasOwn(record, name))
