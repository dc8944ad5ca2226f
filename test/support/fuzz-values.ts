/** Generates values that a schema allows, and values that break it, for the fuzzer. */
import fc from 'fast-check'
import type { Schema } from '../../src/http/openapi-schema.ts'

/** Marks sent values that no response may repeat. */
export const marker = 'zq7marker'

export type Hints = {
  /** Returns the schema of a reference. */
  resolve: (ref: string) => Schema
  /** Returns meaningful values for a field of this name, and their weight against generated values. */
  examples: (name: string) => { values: readonly unknown[]; weight: number }
}

const depthMax = 6

/** Generates values that the schema allows, often meaningful ones of `hints`. */
export function validValue(schema: Schema, hints: Hints, name = '', depth = 0): fc.Arbitrary<unknown> {
  const made = generate(schema, hints, name, depth)
  const { values, weight } = hints.examples(name)
  const fitting = values.filter((value) => fits(value, schema))
  return fitting.length === 0 ? made : fc.oneof({ weight, arbitrary: fc.constantFrom(...fitting) }, { weight: 1, arbitrary: made })
}

/** Returns whether a value has the schema's type or is in its enum. It may still break other bounds. */
function fits(value: unknown, { type, enum: words }: Schema): boolean {
  if (Array.isArray(words)) return words.includes(value)
  const kind = value === null ? 'null' : typeof value
  return [type].flat().some((one) => one === kind || (one === 'integer' && Number.isInteger(value)))
}

function generate(schema: Schema, hints: Hints, name: string, depth: number): fc.Arbitrary<unknown> {
  const { $ref, anyOf, type, const: only, enum: words } = schema
  if (typeof $ref === 'string') return validValue(hints.resolve($ref), hints, name, depth)
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(words)) return fc.constantFrom(...words)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: Schema) => validValue(one, hints, name, depth)))
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => validValue({ ...schema, type: one }, hints, name, depth)))
  switch (type) {
    case 'object':
      return objects(schema, hints, depth)
    case 'array':
      return arrays(schema, hints, name, depth)
    case 'string':
      return strings(schema)
    case 'integer':
      return fc.integer({ min: numberOr(schema['minimum'], -1_000), max: Math.min(numberOr(schema['maximum'], 1_000_000), 2 ** 31 - 1) })
    case 'number':
      return fc.integer({ min: numberOr(schema['minimum'], -1_000), max: numberOr(schema['maximum'], 1_000_000) })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

const numberOr = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback)

function objects({ properties = {}, required = [], additionalProperties }: Schema, hints: Hints, depth: number): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties as Record<string, Schema>).filter(
    ([name]) => depth < depthMax || (required as string[]).includes(name),
  )
  if (fields.length === 0)
    return additionalProperties
      ? fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), validValue(additionalProperties as Schema, hints, '', depth + 1), { maxKeys: 3 })
      : fc.constant({})
  const model = Object.fromEntries(fields.map(([name, one]) => [name, validValue(one, hints, name, depth + 1)]))
  const needed = fields.map(([name]) => name).filter((name) => (required as string[]).includes(name))
  // Few optional fields at a time, because many fields often contradict each other.
  const sparse = Object.fromEntries(Object.entries(model).map(([name, one]) => [name, needed.includes(name) ? one : rarely(one)]))
  return fc.oneof(fc.record(sparse).map(withoutAbsent), fc.record(model, { requiredKeys: needed }))
}

const absent = Symbol('absent')
const rarely = (arbitrary: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: fc.constant(absent) }, { weight: 1, arbitrary })
const withoutAbsent = (record: object) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== absent))

function arrays({ items = {}, minItems, maxItems }: Schema, hints: Hints, name: string, depth: number): fc.Arbitrary<unknown> {
  const least = numberOr(minItems, 0)
  return fc.array(validValue(items as Schema, hints, name.replace(/s$/, ''), depth + 1), {
    minLength: least,
    maxLength: Math.max(least, Math.min(numberOr(maxItems, 3), 3)),
  })
}

/** Cache by constraints, because creating an arbitrary takes far longer than drawing a value. */
const stringCache = new Map<string, fc.Arbitrary<string>>()

function strings({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  const cacheKey = JSON.stringify([format, pattern, minLength, maxLength])
  const made = stringCache.get(cacheKey) ?? newStrings({ format, pattern, minLength, maxLength })
  stringCache.set(cacheKey, made)
  return made
}

function newStrings({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<string> {
  const least = numberOr(minLength, 0)
  const most = numberOr(maxLength, 60)
  const isInBounds = (text: string) => text.length >= least && text.length <= most
  if (format === 'idn-email') return fc.stringMatching(/^[a-z]{1,12}[0-9]{1,6}$/).map((local) => `${local}@example.com`)
  if (format === 'handle') return fc.stringMatching(/^[a-z0-9_-]{1,40}$/)
  if (format === 'uri') return fc.stringMatching(/^[a-z]{1,12}$/).map((word) => `https://example.com/${word}`)
  if (format === 'date-time')
    return fc.date({ min: new Date(0), max: new Date(2e12), noInvalidDate: true }).map((date) => date.toISOString())
  if (format === 'date')
    return fc.date({ min: new Date(0), max: new Date(2e12), noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10))
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern)).filter(isInBounds)
  return fc
    .oneof(
      fc.stringMatching(/^[a-z0-9 ]+$/),
      fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
    )
    .filter(isInBounds)
}

const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)

/** Values that almost no schema allows. */
export const garbageValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    0.5,
    1e308,
    -1e308,
    2 ** 53,
    -(2 ** 63),
    9_999_999_999,
    '',
    ' ',
    [],
    {},
    [[]],
    [null],
    '\u0000',
    `a\u0000${marker}`,
    '\ud800',
    '\u202e',
    '𝒳é\u0301',
    'NaN',
    '0x10',
    '1e1',
    '-0',
    '%00',
    '../../etc/passwd',
  ),
  fc.constantFrom<unknown>(
    `' OR 1=1 -- ${marker}`,
    `<script>${marker}</script>`,
    `" AND ${marker}*`,
    'x'.repeat(10_000),
    '9'.repeat(400),
    { __proto__: null, [marker]: 1 },
    JSON.parse(`{"__proto__":{"admin":"${marker}"}}`),
    { constructor: { prototype: { a: 1 } } },
    { $ne: marker },
    nested(40),
    Array(2_000).fill(1),
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.double().map((number) => (Number.isFinite(number) ? number : null)),
)

/** Breaks a value by replacing, removing or adding one part. */
export function brokenValue(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(value, fc.nat(), fc.constantFrom('replace', 'replace', 'remove', 'add'), garbageValue)
    .map(([whole, nth, how, junk]) => breakValue(structuredClone(whole), nth, how, junk))
}

type Slot = { holder: Record<string, unknown>; key: string }

function breakValue(whole: unknown, nth: number, how: string, junk: unknown): unknown {
  const slots: Slot[] = []
  collect(whole, slots)
  const slot = slots[nth % Math.max(1, slots.length)]
  if (!slot) return how === 'remove' ? {} : junk
  if (how === 'remove') delete slot.holder[slot.key]
  else if (how === 'add')
    Object.defineProperty(slot.holder, ['__proto__', 'id', 'shopId', 'role', 'isAdmin', marker][nth % 6] ?? marker, {
      value: junk,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  else slot.holder[slot.key] = junk
  return whole
}

function collect(value: unknown, slots: Slot[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    slots.push({ holder: value as Record<string, unknown>, key })
    collect(item, slots)
  }
}
