/** Converts TypeBox schemas to JSON Schema 2020-12 for the OpenAPI document; shared ones by reference. */
import { dayForm } from './schema.ts'

export type Schema = { readonly [keyword: string]: unknown }

/** Shared schemas by name, filled while a document is built. */
export type SharedSchemas = Map<string, Schema>

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : [])
const isNull = ({ type }: Schema) => type === 'null'

/** How a schema is converted. Objects of a request body are closed: they accept no other fields. */
type Conversion = { readonly shared: SharedSchemas; readonly isClosed: boolean }

/**
 * Converts a schema of a response, a parameter or a message. Titled schemas move to `shared`.
 * @throws if two different schemas have the same title
 */
export const documentSchema = (schema: Schema, shared: SharedSchemas): Schema => convert(schema, { shared, isClosed: false })

/**
 * Converts the schema of a request body: its objects say `additionalProperties: false`, and the names of shared ones
 * end in `Input`.
 * @throws if two different schemas have the same title
 */
export const documentBody = (schema: Schema, shared: SharedSchemas): Schema => convert(schema, { shared, isClosed: true })

function convert(schema: Schema, conversion: Conversion): Schema {
  const { $id: _, rule: __, title, ...rest } = schema
  const converted = shapeOf(rest, conversion)
  if (typeof title !== 'string') return converted
  const { shared, isClosed } = conversion
  const name = isClosed && !title.endsWith('Input') ? `${title}Input` : title
  const existing = shared.get(name)
  if (existing && !Bun.deepEquals(existing, converted)) throw new Error(`two different schemas are titled ${name}`)
  shared.set(name, converted)
  return { $ref: `#/components/schemas/${name}` }
}

function shapeOf(schema: Schema, conversion: Conversion): Schema {
  if (schema['x-type'] === 'integer') return wholeNumber(schema)
  if (schema['pattern'] === dayForm.pattern) return day(schema)
  if (Array.isArray(schema['anyOf'])) return unionOf(schema, conversion)
  const { properties, items, patternProperties, additionalProperties, allOf, ...rest } = schema
  return {
    ...rest,
    ...(isSchema(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, convert(one as Schema, conversion)])) }
      : {}),
    ...(isSchema(items) ? { items: convert(items, conversion) } : {}),
    ...(allOf === undefined ? {} : membersOf(allOf, conversion)),
    ...(conversion.isClosed && isSchema(properties) ? { additionalProperties: false } : {}),
    ...recordOf(patternProperties ?? additionalProperties, conversion),
  }
}

/** The members of an intersection. Only the whole can be closed: each member has the fields of the others beside it. */
function membersOf(allOf: unknown, { shared, isClosed }: Conversion): Schema {
  const members = schemasIn(allOf).map((one) => documentSchema(one, shared))
  return { allOf: members, ...(isClosed ? { unevaluatedProperties: false } : {}) }
}

/** The values of a record. TypeBox writes them as a pattern that matches every name. */
function recordOf(values: unknown, conversion: Conversion): Schema {
  // Elysia writes `false` on compiled schemas, although other fields are ignored.
  if (!isSchema(values)) return {}
  const { '^(.*)$': any, ...patterns } = values
  if (isSchema(any)) return { additionalProperties: convert(any, conversion) }
  const arePatterns = Object.entries(patterns).every(([pattern, one]) => pattern.startsWith('^') && isSchema(one))
  if (!arePatterns || Object.keys(patterns).length === 0) return { additionalProperties: convert(values, conversion) }
  return {
    patternProperties: Object.fromEntries(Object.entries(patterns).map(([pattern, one]) => [pattern, convert(one as Schema, conversion)])),
  }
}

/** A query text that stands for an integer. Its pattern determines the minimum. */
function wholeNumber({ 'x-type': type, pattern, maxLength: _, type: __, ...rest }: Schema): Schema {
  const minimum = String(pattern).startsWith('^-?') ? {} : { minimum: String(pattern).startsWith('^[1-9]') ? 1 : 0 }
  return { ...rest, type, ...minimum }
}

/** A query text that stands for a day. */
const day = ({ pattern: _, maxLength: __, ...rest }: Schema): Schema => ({ ...rest, format: 'date' })

/** Converts unions of words to an enum, and `X or null` to one schema with two types. */
function unionOf({ anyOf, ...rest }: Schema, conversion: Conversion): Schema {
  const options = schemasIn(anyOf)
  const words = options.map((option) => option['const'])
  if (words.every((word) => typeof word === 'string')) return { ...rest, type: 'string', enum: words }
  const [value, ...others] = options.filter((option) => !isNull(option)).map((option) => convert(option, conversion))
  if (value && others.length === 0 && options.some(isNull)) return { ...rest, ...orNull(value) }
  return { ...rest, anyOf: options.map((option) => convert(option, conversion)) }
}

function orNull(value: Schema): Schema {
  if (typeof value['type'] !== 'string' || value['const'] !== undefined) return { anyOf: [value, { type: 'null' }] }
  const words = value['enum']
  return { ...value, type: [value['type'], 'null'], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) }
}
