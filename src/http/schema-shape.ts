import type { TSchema } from '@sinclair/typebox'
import { AppError, invalidField } from '../core/errors.ts'
import { isMoneySchema } from '../lib/money.ts'

/**
 * The outline of a schema: kinds, field names and lengths. Created once per schema, so that a check takes time
 * proportional to the input only.
 */
export type Shape = {
  /** Any value is accepted. */
  anything?: true
  /** An object with these fields is accepted. */
  fields?: Map<string, Shape>
  /** Outline of other fields of a free-form record. Undefined: no other fields are accepted. */
  others?: Shape
  /** A list of these is accepted. */
  items?: Shape
  itemsMax?: number
  /** A scalar other than null is accepted. */
  plain?: true
  /** Null is accepted. */
  nothing?: true
  /** Maximum characters of a text. */
  lengthMax?: number
  /** The same for a text with a pattern or format. */
  formLengthMax?: number
  /** The form of such a text in words. */
  rule?: string
  /** The kind that error messages name. */
  kind?: 'object' | 'array'
  /** An amount of money, whose error shows an example. */
  isMoney?: true
}

/** Maximum length of names in free-form records. */
const nameLengthMax = 255
const nameShownMax = 64

/**
 * Creates the outline of a schema.
 * @throws Error if a text without a maximum length has a pattern, or for an unsupported schema
 */
export function shapeOf(schema: TSchema): Shape {
  const { anyOf, allOf } = schema as { anyOf?: TSchema[]; allOf?: TSchema[] }
  if (anyOf ?? allOf) return [...(anyOf ?? []), ...(allOf ?? [])].map(shapeOf).reduce(mergeShapes, {})
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
  const isMoney = isMoneySchema({ properties }) ? { isMoney: true as const } : {}
  return { kind: 'object', ...isMoney, fields, ...(others.length > 0 ? { others: others.reduce(mergeShapes) } : {}) }
}

function textShape({ pattern, format, maxLength, rule }: TSchema): Shape {
  if (pattern === undefined && format === undefined) return { plain: true, lengthMax: maxLength ?? Number.POSITIVE_INFINITY }
  if (maxLength === undefined)
    throw new Error(`a text with the ${pattern === undefined ? 'format' : 'pattern'} ${pattern ?? format} needs a maxLength`)
  return { plain: true, lengthMax: maxLength, formLengthMax: maxLength, ...(rule === undefined ? {} : { rule }) }
}

/** Merges the outlines of a union or intersection. */
function mergeShapes(one: Shape, other: Shape): Shape {
  const fields = new Map(one.fields)
  for (const [name, shape] of other.fields ?? []) fields.set(name, mergeShapes(fields.get(name) ?? {}, shape))
  const both: Shape = {}
  if (one.anything || other.anything) both.anything = true
  if (one.plain || other.plain) both.plain = true
  if (one.nothing || other.nothing) both.nothing = true
  if (fields.size > 0 || one.fields || other.fields) both.fields = fields
  for (const key of ['others', 'items'] as const) {
    const either = one[key] && other[key] ? mergeShapes(one[key], other[key]) : (one[key] ?? other[key])
    if (either) both[key] = either
  }
  const kind = one.kind ?? other.kind
  if (kind) both.kind = kind
  if (one.isMoney || other.isMoney) both.isMoney = true
  // Of two rules neither is named.
  const rule = one.rule === undefined || other.rule === undefined ? (one.rule ?? other.rule) : undefined
  if (rule !== undefined) both.rule = rule
  const lengths = (key: 'itemsMax' | 'lengthMax' | 'formLengthMax') => [one[key], other[key]].filter((length) => length !== undefined)
  for (const key of ['itemsMax', 'lengthMax'] as const) if (lengths(key).length > 0) both[key] = Math.max(...lengths(key))
  if (lengths('formLengthMax').length > 0) both.formLengthMax = Math.min(...lengths('formLengthMax'))
  if ((both.lengthMax ?? 0) > (both.formLengthMax ?? Number.POSITIVE_INFINITY))
    throw new Error('where texts of two forms may stand, both need the same maxLength')
  return both
}

/** Returns the maximum number of values in an outline, including itself. */
export function valuesIn({ anything, fields, others, items, itemsMax = 0 }: Shape): number {
  if (anything || others) return Number.POSITIVE_INFINITY
  const inFields = [...(fields?.values() ?? [])].reduce((sum, field) => sum + valuesIn(field), 0)
  return 1 + Math.max(inFields, items ? itemsMax * valuesIn(items) : 0)
}

/** The rule of an amount of money, with an example. */
export const moneyRule = 'expected {"amount": 1250, "currency": "USD"}; amounts are in minor units'
const kindRule = ({ kind, isMoney }: Shape): string => (isMoney ? moneyRule : kind === 'array' ? 'must be a list' : 'must be an object')

const lengthRule = ({ lengthMax, rule }: Shape): string =>
  rule === undefined ? `must have at most ${lengthMax} characters` : `must be ${rule}, with at most ${lengthMax} characters`

/** JSON uses at most 6 bytes per UTF-16 unit: `\u0061`. */
const bytesOfCharacterMax = 6
/** Created once: the stack trace of an error costs more than the check. */
const tooLong = new WeakMap<Shape, AppError>()

/** Returns the error for a text that its JSON length proves too long for its field; undefined otherwise. */
export function lengthRefusal({ fields }: Shape, name: string, bytes: number): AppError | undefined {
  const field = fields?.get(name)
  if (!field?.plain || field.anything || field.lengthMax === undefined || bytes <= bytesOfCharacterMax * field.lengthMax) return undefined
  const refusal = tooLong.get(field) ?? invalidField(name, lengthRule(field))
  tooLong.set(field, refusal)
  return refusal
}

/**
 * Checks input against an outline before Elysia validates it: unknown fields, lengths (before any regular expression),
 * and objects or lists of the wrong kind, with which Elysia's stripping fails. Other rules follow later. Normalizes
 * handles, tags and codes to NFC.
 * @param place the checked part, for the message
 * @throws AppError INVALID
 */
export function assertShape(shape: Shape, value: unknown, place: 'body' | 'query' | 'path' = 'body', path: string[] = []): void {
  if (value === undefined || shape.anything || (value === null && shape.nothing)) return
  const refuse = (rule: string) => invalidField(shortPath(path) || place, rule)
  if (typeof value === 'string') {
    if (!shape.plain) throw refuse(kindRule(shape))
    if (shape.lengthMax !== undefined && value.length > shape.lengthMax) throw refuse(lengthRule(shape))
  } else if (Array.isArray(value)) {
    const { items, itemsMax = 0 } = shape
    if (items) {
      if (value.length > itemsMax) throw refuse(`must have at most ${itemsMax} entries`)
      for (let at = 0; at < value.length; at++) checkMember(items, value, place, path, String(at))
    } else if (!shape.plain) throw refuse(kindRule(shape))
  } else if (typeof value === 'object' && value !== null) {
    if (shape.fields) assertNames(shape, shape.fields, value, place, path)
    else if (!shape.plain) throw refuse(kindRule(shape))
  } else if (!shape.plain) throw refuse(kindRule(shape))
}

function assertNames({ others }: Shape, fields: Map<string, Shape>, value: object, place: 'body' | 'query' | 'path', path: string[]): void {
  for (const name in value) {
    // Copying a record silently drops `__proto__`.
    const shape = fields.get(name) ?? (name === '__proto__' ? undefined : others)
    if (!shape) throw unknownField([...path, name])
    if (name.length > nameLengthMax) throw invalidField(shortPath(path) || place, `a name has more than ${nameLengthMax} characters`)
    checkMember(shape, value, place, path, name)
  }
}

/** Fields that are compared as text. They are normalized to NFC here, so every route accepts either form. */
const normalizedFields = new Set(
  'handle slug tag tags vendor type code sku barcode collection categories taxClass class shippingMethod manualCode affiliateCode discountCode'.split(
    ' ',
  ),
)

/** Normalizes path parameters, also without a path schema. */
export function normalizeParams(params: object): void {
  for (const name in params) normalize(params, [], name)
}

function normalize(container: object, path: readonly string[], name: string): void {
  const field = Array.isArray(container) ? path.at(-1) : name
  const text = (container as Record<string, unknown>)[name]
  if (typeof text === 'string' && field !== undefined && normalizedFields.has(field))
    (container as Record<string, unknown>)[name] = text.normalize('NFC')
}

function checkMember(shape: Shape, container: object, place: 'body' | 'query' | 'path', path: string[], name: string): void {
  normalize(container, path, name)
  const value = (container as Record<string, unknown>)[name]
  path.push(name)
  assertShape(shape, value, place, path)
  path.pop()
}

export type QueryRule = {
  readonly shape: Shape
  /** Ignores unknown parameters instead of refusing them. */
  readonly ignoresUnknown: boolean
}

/**
 * Checks a query against the parameters of its route. Empty and ignored parameters are removed from `query`.
 * @param query as parsed by the framework, which keeps the last of duplicates
 * @throws AppError INVALID for unknown, overlong and duplicate parameters
 */
export function assertQuery({ shape, ignoresUnknown }: QueryRule, url: string, query: Record<string, unknown>): void {
  const isKnown = (name: string) => shape.fields?.has(name) === true
  if (url.includes('&')) {
    const pairs = [...new URL(url).searchParams].filter(([name, value]) => value !== '' && (isKnown(name) || !ignoresUnknown))
    const names = pairs.map(([name]) => name)
    const twice = names.find((name, at) => names.indexOf(name) < at)
    if (twice !== undefined) throw invalidField(shortPath([twice]), 'given more than once')
    for (const [name, value] of pairs) query[name] = value
  }
  for (const name of Object.keys(query)) if (query[name] === '' || (ignoresUnknown && !isKnown(name))) delete query[name]
  assertShape(shape, query, 'query')
}

/** Returns the error of an unknown field; a long name is shortened. */
function unknownField(path: readonly string[]): AppError {
  const field = shortPath(path)
  return new AppError('INVALID', `unknown field: ${field}`, { code: 'unknown_field', field })
}

/** Formats a path for a message; a long one is shortened. */
export function shortPath(path: readonly string[]): string {
  const name = path.join('.')
  return name.length > nameShownMax ? `${name.slice(0, nameShownMax).toWellFormed()}…` : name
}
