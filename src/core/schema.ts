/** Schemas without HTTP: those of requests, responses and webhook messages are made of these. */
import { type TSchema, Type } from '@sinclair/typebox'
import { amountMax } from '../lib/money.ts'

/** Creates the schema of one of a few words. Elysia's t.UnionEnum would set a missing field to its first value. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, options: { description?: string } = {}) =>
  Type.Unsafe<Words[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  )

/** Allows null besides the values of a schema. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** Gives several fields one schema. */
export const fieldsOf = <Schema extends TSchema, Name extends string>(schema: Schema, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>

/** Creates the schema of a whole number in a body. Elysia's t.Integer would accept the text "5". */
export const integer = (options: { minimum?: number; maximum?: number; description?: string } = {}) => Type.Integer(options)

/** `rule` completes the message "must be …" of a text that does not match. */
type Form = { readonly pattern: string; readonly rule: string }
type TextOptions = { readonly minLength?: number; readonly description?: string } & (Form | { readonly pattern?: never })

/** Creates the schema of a text. The pattern is checked only if the length is right: see src/http/schema-shape.ts. */
export const text = (maxLength: number, options: TextOptions = {}) => Type.String({ maxLength, ...options })
export const CurrencyCode = text(3, { pattern: '^[A-Z]{3}$', rule: 'a three-letter currency code such as USD', description: 'ISO 4217' })
/** Description of the amount of money; the message for a fraction depends on it. */
export const minorUnits = 'In minor units'
/** The schema of money in requests and responses. */
export const MoneySchema = Type.Object(
  { amount: integer({ minimum: 0, maximum: amountMax, description: minorUnits }), currency: CurrencyCode },
  { title: 'Money' },
)
