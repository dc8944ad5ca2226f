/** Reads the content of an attestation from a JSON file and validates it against its schema. */
import type { Statements } from '../clients/chain/eas.ts'
import { isWebUrl, urlMax } from '../lib/chain-settings.ts'
import { type SchemaName, schemaTexts, zeroAddress } from '../lib/eas.ts'
import { hashForm, readAddress } from '../lib/evm.ts'
import { findDuplicateField } from '../lib/exact-json.ts'
import { type IdKind, idPrefixes } from '../lib/ids.ts'
import { instantPattern, parseInstant } from '../lib/instant.ts'
import { isRecord, parseJson } from '../lib/json.ts'
import { keccak256 } from '../lib/keccak.ts'
import { outcomes } from '../modules/lending/repayment/domain.ts'
import { archetypes } from '../modules/trust/service-provider/domain.ts'

type Hex = `0x${string}`
type Value = string | number | bigint
/** @returns the value, or a text that completes "NAME must …" */
type FieldResult = (input: unknown) => { readonly value: Value } | { readonly wrong: string }

export type ParsedStatement = {
  readonly [Name in SchemaName]: { readonly schema: Name; readonly statement: Statements[Name]; readonly recipient: Hex }
}[SchemaName]

const refMax = 200
const uint64End = 2n ** 64n

const isHash = (input: unknown): input is string => typeof input === 'string' && new RegExp(hashForm.pattern).test(input)

/** The hash of an id; or the hash itself if the id is unknown. */
const ref =
  (kind?: IdKind): FieldResult =>
  (input) => {
    if (isHash(input)) return { value: input.toLowerCase() }
    const what = kind === undefined ? `a name of at most ${refMax} characters` : `an id such as ${idPrefixes[kind]}_… with 26 characters`
    const isId =
      typeof input === 'string' &&
      input.length <= refMax &&
      !input.startsWith('0x') &&
      (kind === undefined ? /^\S(?:.*\S)?$/ : new RegExp(`^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{26}$`)).test(input)
    return isId ? { value: `0x${keccak256(Buffer.from(input))}` } : { wrong: `be ${what}, or its hash: ${hashForm.rule}` }
  }

const hash: FieldResult = (input) => (isHash(input) ? { value: input.toLowerCase() } : { wrong: `be ${hashForm.rule}` })

/** A whole number, or one of its names in order from 0. */
const code =
  (max: number, names: readonly string[] = []): FieldResult =>
  (input) => {
    const value = typeof input === 'string' ? names.indexOf(input) : input
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return { value }
    return { wrong: `be ${names.length > 0 ? `one of ${names.join(', ')}, or ` : ''}a whole number from 0 to ${max}` }
  }

/** Beyond the exact numbers of JSON, as text. */
const uint64: FieldResult = (input) => {
  const isText = typeof input === 'string' && /^\d{1,20}$/.test(input)
  const value = isText || (Number.isSafeInteger(input) && (input as number) >= 0) ? BigInt(input as string | number) : uint64End
  return value < uint64End ? { value } : { wrong: 'be a whole number from 0 to 18446744073709551615; as text from 9007199254740992 on' }
}

/** The end of the year 9999; larger values are mostly milliseconds. */
const lastSecond = Date.UTC(9999, 11, 31, 23, 59, 59) / 1_000
/** Seconds since 1970, as a number or as RFC 3339. */
const time: FieldResult = (input) => {
  if (typeof input === 'number' && input <= lastSecond) return uint64(input)
  const ms = typeof input === 'string' && new RegExp(instantPattern).test(input) ? parseInstant(input) : Number.NaN
  if (ms >= 0 && ms % 1_000 === 0) return { value: BigInt(ms / 1_000) }
  return { wrong: 'be a whole second since 1970, as a number or such as 2026-01-31T12:00:00Z' }
}
/** 0 if absent. */
const optionalTime: FieldResult = (input) => (input === null ? { value: 0n } : time(input))

const url: FieldResult = (input) =>
  isWebUrl(input) ? { value: input } : { wrong: `be an http or https URL of at most ${urlMax} characters, without a user name` }

const fields: { readonly [Name in SchemaName]: Readonly<Record<keyof Statements[Name], FieldResult>> } = {
  A: { merchantRef: ref('merchant'), shopUrl: url, method: code(255), evidenceHash: hash, verifiedAt: time },
  B: {
    merchantRef: ref('merchant'),
    lenderRef: ref('lender'),
    methodologyHash: hash,
    tier: code(3),
    ceilingUsdCents: uint64,
    operationalRisk: code(2),
    inputsHash: hash,
    assessedAt: time,
  },
  C: {
    merchantRef: ref('merchant'),
    loanRef: ref(),
    outcome: code(outcomes.length - 1, outcomes),
    amountUsdCents: uint64,
    dueAt: time,
    settledAt: optionalTime,
  },
  D: {
    providerRef: ref('serviceProvider'),
    subjectRef: ref(),
    archetype: code(archetypes.length - 1, archetypes),
    claimType: code(255),
    observations: code(2 ** 32 - 1),
    periodStart: time,
    periodEnd: time,
    evidenceHash: hash,
  },
}

const recipient: FieldResult = (input) => {
  const read = readAddress(typeof input === 'string' ? input : '')
  return 'wrong' in read ? read : { value: read.address }
}

/** Returns the fields of a schema with their types in order, for the help. */
export const fieldsOf = (schema: SchemaName): string[] => schemaTexts[schema].split(',')

/**
 * Parses a statement: every field of the schema, and a `recipient` if it concerns an address.
 * @returns one line per problem, without values
 */
export function readStatement(
  schema: SchemaName,
  text: string,
): { readonly written: ParsedStatement } | { readonly problems: readonly string[] } {
  // Some programs write a UTF-8 byte order mark.
  const json = text.replace(/^\ufeff/, '')
  const parsed = parseJson(json)
  if (!isRecord(parsed)) return { problems: ['it is not a JSON object'] }
  const twice = findDuplicateField(json)
  if (twice) return { problems: [`${twice.join('.').slice(0, 100)} is given twice`] }
  const reads = Object.entries<FieldResult>(fields[schema])
  const problems = Object.keys(parsed)
    .filter((name) => name !== 'recipient' && !Object.hasOwn(fields[schema], name))
    .map((name) => `unknown field: ${name.slice(0, 100)}`)
  const values: Record<string, Value> = {}
  const take = (name: string, read: FieldResult) => {
    const result = read(parsed[name])
    if ('value' in result) values[name] = result.value
    else problems.push(`${name} must ${result.wrong}`)
  }
  for (const [name, read] of reads) {
    if (Object.hasOwn(parsed, name)) take(name, read)
    else problems.push(`${name} is missing`)
  }
  if (Object.hasOwn(parsed, 'recipient')) take('recipient', recipient)
  if (problems.length === 0) problems.push(...findContradictions(values))
  if (problems.length > 0) return { problems }
  const { recipient: about = zeroAddress, ...statement } = values
  return { written: { schema, statement, recipient: about } as unknown as ParsedStatement }
}

/** Finds fields that contradict each other. */
function findContradictions({ outcome, settledAt, periodStart, periodEnd }: Readonly<Record<string, Value>>): string[] {
  if (settledAt === 0n && outcome !== outcomes.indexOf('DEFAULT')) return ['settledAt is required, except for the outcome DEFAULT']
  if (periodStart !== undefined && periodEnd !== undefined && periodEnd < periodStart) return ['periodEnd must not be before periodStart']
  return []
}
