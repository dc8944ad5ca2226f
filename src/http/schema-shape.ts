import type { TSchema } from '@sinclair/typebox'
import { AppError } from '../core/errors.ts'

/**
 * The outline of a schema: which kinds it takes, by which names, and how long. Made once a schema, so that looking at what was sent
 * costs what was sent and no more.
 */
export type Shape = {
  /** Whatever it is, it is taken. */
  anything?: true
  /** An object may stand here, with these fields. */
  fields?: Map<string, Shape>
  /** Of a free-form record: what stands under all names that are not among the fields. Otherwise there are no such names. */
  others?: Shape
  /** A list may stand here, of these. */
  items?: Shape
  itemsMax?: number
  /** Something else than an object, a list or null may stand here. */
  plain?: true
  /** Null may stand here. */
  nothing?: true
  /** Characters of a text. */
  lengthMax?: number
  /** The same where a regular expression or a format looks at the text. */
  formLengthMax?: number
  /** The form of such a text in words. */
  rule?: string
  /** The kind that is named when none fits. */
  kind?: 'object' | 'array'
}

/** Names of a free-form record. */
const nameLengthMax = 255
const nameShownMax = 64

/**
 * Outlines a schema.
 * @throws Error when a text of any length would reach a regular expression of it, or what it is made of is not known here
 */
export function shapeOf(schema: TSchema): Shape {
  const { anyOf, allOf } = schema as { anyOf?: TSchema[]; allOf?: TSchema[] }
  if (anyOf ?? allOf) return [...(anyOf ?? []), ...(allOf ?? [])].map(shapeOf).reduce(merged, {})
  for (const unknown of ['$ref', 'oneOf', 'not', 'if']) if (unknown in schema) throw new Error(`a request's schema may not say ${unknown}`)
  if ('const' in schema) return { plain: true }
  switch (schema['type']) {
    case 'object':
      return objectShape(schema)
    case 'array':
      return { kind: 'array', items: shapeOf(schema['items']), itemsMax: schema['maxItems'] ?? Number.POSITIVE_INFINITY }
    case 'string':
      return textShape(schema)
    case undefined:
      return { anything: true }
    case 'null':
      return { nothing: true }
    default:
      return { plain: true }
  }
}

function objectShape({ properties = {}, patternProperties = {}, additionalProperties }: TSchema): Shape {
  const fields = new Map(Object.entries(properties as Record<string, TSchema>).map(([name, schema]) => [name, shapeOf(schema)]))
  const free = [...Object.values(patternProperties as Record<string, TSchema>), ...(additionalProperties ? [additionalProperties] : [])]
  const others = free.map((schema) => (schema === true ? { anything: true as const } : shapeOf(schema as TSchema)))
  return { kind: 'object', fields, ...(others.length > 0 ? { others: others.reduce(merged) } : {}) }
}

function textShape({ pattern, format, maxLength, rule }: TSchema): Shape {
  if (pattern === undefined && format === undefined) return { plain: true, lengthMax: maxLength ?? Number.POSITIVE_INFINITY }
  if (maxLength === undefined)
    throw new Error(`a text with the ${pattern === undefined ? 'format' : 'pattern'} ${pattern ?? format} needs a maxLength`)
  return { plain: true, lengthMax: maxLength, formLengthMax: maxLength, ...(rule === undefined ? {} : { rule }) }
}

/** What either takes: of a union, and of parts that make one object. */
function merged(one: Shape, other: Shape): Shape {
  const fields = new Map(one.fields)
  for (const [name, shape] of other.fields ?? []) fields.set(name, merged(fields.get(name) ?? {}, shape))
  const both: Shape = {}
  if (one.anything || other.anything) both.anything = true
  if (one.plain || other.plain) both.plain = true
  if (one.nothing || other.nothing) both.nothing = true
  if (fields.size > 0 || one.fields || other.fields) both.fields = fields
  for (const key of ['others', 'items'] as const) {
    const either = one[key] && other[key] ? merged(one[key], other[key]) : (one[key] ?? other[key])
    if (either) both[key] = either
  }
  const kind = one.kind ?? other.kind
  if (kind) both.kind = kind
  // Of two forms, neither is the one that was meant.
  const rule = one.rule === undefined || other.rule === undefined ? (one.rule ?? other.rule) : undefined
  if (rule !== undefined) both.rule = rule
  const lengths = (key: 'itemsMax' | 'lengthMax' | 'formLengthMax') => [one[key], other[key]].filter((length) => length !== undefined)
  for (const key of ['itemsMax', 'lengthMax'] as const) if (lengths(key).length > 0) both[key] = Math.max(...lengths(key))
  if (lengths('formLengthMax').length > 0) both.formLengthMax = Math.min(...lengths('formLengthMax'))
  if ((both.lengthMax ?? 0) > (both.formLengthMax ?? Number.POSITIVE_INFINITY))
    throw new Error('where texts of two forms may stand, both need the same maxLength')
  return both
}

/** How many values something of this outline can hold, itself among them; no end of them where anything may stand. */
export function valuesIn({ anything, fields, others, items, itemsMax = 0 }: Shape): number {
  if (anything || others) return Number.POSITIVE_INFINITY
  const inFields = [...(fields?.values() ?? [])].reduce((sum, field) => sum + valuesIn(field), 0)
  return 1 + Math.max(inFields, items ? itemsMax * valuesIn(items) : 0)
}

const lengthRule = ({ lengthMax, rule }: Shape): string =>
  rule === undefined ? `Expected string length less or equal to ${lengthMax}` : `Expected ${rule}, in ${lengthMax} characters or less`

/** Of a character of a text, a UTF-16 unit, JSON takes no more: `\u0061`. */
const bytesOfCharacterMax = 6
/** Made once: an error notes where it is made, which costs more than to look at the body. */
const tooLong = new WeakMap<Shape, AppError>()

/**
 * The refusal, as `assertShape` has it, of a text that is longer than a field of a body may be by the bytes that it takes in JSON alone;
 * undefined where it may not be.
 */
export function lengthRefusal({ fields }: Shape, name: string, bytes: number): AppError | undefined {
  const field = fields?.get(name)
  if (!field?.plain || field.anything || field.lengthMax === undefined || bytes <= bytesOfCharacterMax * field.lengthMax) return undefined
  const refusal = tooLong.get(field) ?? new AppError('INVALID', `${name} (body): ${lengthRule(field)}`)
  tooLong.set(field, refusal)
  return refusal
}

/**
 * Looks at what was sent before anything else does. Names that the schema does not have are refused, and so is whatever is longer
 * than it may be: no regular expression ever sees it. So are a text where an object belongs, and an object where a list belongs:
 * Elysia's stripping takes the kinds for granted, makes `{}` of a text, and counts to the `length` that a caller's object claims.
 * All other rules are the schema's own check, which comes later. Handles, tags, codes and the like are put into their normal form.
 * @param place what is looked at, for the message
 * @throws AppError INVALID
 */
export function assertShape(shape: Shape, value: unknown, place: 'body' | 'query' | 'path' = 'body', path: string[] = []): void {
  if (value === undefined || shape.anything || (value === null && shape.nothing)) return
  const refuse = (rule: string) => new AppError('INVALID', `${path.join('.') || place} (${place}): ${rule}`)
  if (typeof value === 'string') {
    if (!shape.plain) throw refuse(`Expected ${shape.kind}`)
    if (shape.lengthMax !== undefined && value.length > shape.lengthMax) throw refuse(lengthRule(shape))
  } else if (Array.isArray(value)) {
    const { items, itemsMax = 0 } = shape
    if (items) {
      if (value.length > itemsMax) throw refuse(`Expected array length to be less or equal to ${itemsMax}`)
      for (let at = 0; at < value.length; at++) under(items, value, place, path, String(at))
    } else if (!shape.plain) throw refuse(`Expected ${shape.kind}`)
  } else if (typeof value === 'object' && value !== null) {
    if (shape.fields) assertNames(shape, shape.fields, value, place, path)
    else if (!shape.plain) throw refuse(`Expected ${shape.kind}`)
  } else if (!shape.plain) throw refuse(`Expected ${shape.kind}`)
}

function assertNames({ others }: Shape, fields: Map<string, Shape>, value: object, place: 'body' | 'query' | 'path', path: string[]): void {
  for (const name in value) {
    // What a free-form record has under `__proto__` is dropped without a word by whatever copies it.
    const shape = fields.get(name) ?? (name === '__proto__' ? undefined : others)
    if (!shape) throw unknownField([...path, name], place)
    if (name.length > nameLengthMax) throw new AppError('INVALID', `${path.join('.') || place} (${place}): a name is too long`)
    under(shape, value, place, path, name)
  }
}

/** Fields whose texts are compared letter by letter. They are put into one normal form (NFC) here, so that every route takes either. */
const normalizedFields = new Set(
  'handle slug tag tags vendor type code sku barcode collection categories taxClass class shippingMethod manualCode affiliateCode discountCode'.split(
    ' ',
  ),
)

/** Puts what a path names into the same normal form, also where the route states no schema of it. */
export function normalizeParams(params: object): void {
  for (const name in params) normalize(params, [], name)
}

function normalize(container: object, path: readonly string[], name: string): void {
  const field = Array.isArray(container) ? path.at(-1) : name
  const text = (container as Record<string, unknown>)[name]
  if (typeof text === 'string' && field !== undefined && normalizedFields.has(field))
    (container as Record<string, unknown>)[name] = text.normalize('NFC')
}

function under(shape: Shape, container: object, place: 'body' | 'query' | 'path', path: string[], name: string): void {
  normalize(container, path, name)
  const value = (container as Record<string, unknown>)[name]
  path.push(name)
  assertShape(shape, value, place, path)
  path.pop()
}

export type QueryRule = {
  readonly shape: Shape
  /** Parameters without a place in the shape are ignored instead of refused. */
  readonly ignoresUnknown: boolean
}

/**
 * Checks the query of a request against the parameters that its route knows. A parameter with an empty value counts as absent: it is
 * removed from `query`, and so is an ignored one.
 * @param query as the framework read it, which keeps the last value of a parameter
 * @throws AppError INVALID for a parameter that is unknown, too long, or given more than once
 */
export function assertQuery({ shape, ignoresUnknown }: QueryRule, url: string, query: Record<string, unknown>): void {
  const isKnown = (name: string) => shape.fields?.has(name) === true
  if (url.includes('&')) {
    const pairs = [...new URL(url).searchParams].filter(([name, value]) => value !== '' && (isKnown(name) || !ignoresUnknown))
    const names = pairs.map(([name]) => name)
    const twice = names.find((name, at) => names.indexOf(name) < at)
    if (twice !== undefined) throw new AppError('INVALID', `${shown([twice])} (query): given more than once`)
    for (const [name, value] of pairs) query[name] = value
  }
  for (const name of Object.keys(query)) if (query[name] === '' || (ignoresUnknown && !isKnown(name))) delete query[name]
  assertShape(shape, query, 'query')
}

/** Says which name nobody knows here; of a long one, its beginning. */
export function unknownField(path: readonly string[], place: 'body' | 'query' | 'path'): AppError {
  return new AppError('INVALID', `unknown field: ${shown(path)}${place === 'body' ? '' : ` (${place})`}`)
}

/** A path as it is said in a message; of a long one, its beginning. */
export function shown(path: readonly string[]): string {
  const name = path.join('.')
  return name.length > nameShownMax ? `${name.slice(0, nameShownMax).toWellFormed()}…` : name
}
