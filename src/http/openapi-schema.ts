/** Converts TypeBox schemas to JSON Schema 2020-12 for the OpenAPI document; shared ones by reference. */

export type Schema = { readonly [keyword: string]: unknown }

/** Shared schemas by name, filled while a document is built. */
export type SharedSchemas = Map<string, Schema>

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : [])
const isNull = ({ type }: Schema) => type === 'null'

/**
 * Converts a schema. Titled schemas move to `shared`.
 * @throws if two different schemas have the same title
 */
export function documentSchema(schema: Schema, shared: SharedSchemas): Schema {
  const { $id: _, rule: __, title, ...rest } = schema
  const shown = shapeOf(rest, shared)
  if (typeof title !== 'string') return shown
  const known = shared.get(title)
  if (known && !Bun.deepEquals(known, shown)) throw new Error(`two different schemas are titled ${title}`)
  shared.set(title, shown)
  return { $ref: `#/components/schemas/${title}` }
}

function shapeOf(schema: Schema, shared: SharedSchemas): Schema {
  if (schema['x-type'] === 'integer') return wholeNumber(schema)
  if (Array.isArray(schema['anyOf'])) return unionOf(schema, shared)
  const { properties, items, patternProperties, additionalProperties, allOf, ...rest } = schema
  return {
    ...rest,
    ...(isSchema(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, documentSchema(one as Schema, shared)])) }
      : {}),
    ...(isSchema(items) ? { items: documentSchema(items, shared) } : {}),
    ...(allOf === undefined ? {} : { allOf: schemasIn(allOf).map((one) => documentSchema(one, shared)) }),
    ...recordOf(patternProperties ?? additionalProperties, shared),
  }
}

/** The values of a record. TypeBox writes them as a pattern that matches every name. */
function recordOf(values: unknown, shared: SharedSchemas): Schema {
  // Elysia writes `false` on compiled schemas, although other fields are ignored.
  if (!isSchema(values)) return {}
  const { '^(.*)$': any, ...patterns } = values
  if (isSchema(any)) return { additionalProperties: documentSchema(any, shared) }
  const named = Object.entries(patterns).every(([pattern, one]) => pattern.startsWith('^') && isSchema(one))
  if (!named || Object.keys(patterns).length === 0) return { additionalProperties: documentSchema(values, shared) }
  return {
    patternProperties: Object.fromEntries(
      Object.entries(patterns).map(([pattern, one]) => [pattern, documentSchema(one as Schema, shared)]),
    ),
  }
}

/** A query text that stands for an integer. Its pattern determines the minimum. */
function wholeNumber({ 'x-type': type, pattern, maxLength: _, type: __, ...rest }: Schema): Schema {
  const minimum = String(pattern).startsWith('^-?') ? {} : { minimum: String(pattern).startsWith('^[1-9]') ? 1 : 0 }
  return { ...rest, type, ...minimum }
}

/** Converts unions of words to an enum, and `X or null` to one schema with two types. */
function unionOf({ anyOf, ...rest }: Schema, shared: SharedSchemas): Schema {
  const options = schemasIn(anyOf)
  const words = options.map((option) => option['const'])
  if (words.every((word) => typeof word === 'string')) return { ...rest, type: 'string', enum: words }
  const [value, ...others] = options.filter((option) => !isNull(option)).map((option) => documentSchema(option, shared))
  if (value && others.length === 0 && options.some(isNull)) return { ...rest, ...orNull(value) }
  return { ...rest, anyOf: options.map((option) => documentSchema(option, shared)) }
}

function orNull(value: Schema): Schema {
  if (typeof value['type'] !== 'string' || value['const'] !== undefined) return { anyOf: [value, { type: 'null' }] }
  const words = value['enum']
  return { ...value, type: [value['type'], 'null'], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) }
}
