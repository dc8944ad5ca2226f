/** Schemas without HTTP: those of requests, responses and webhook messages are made of these. */
import { type TSchema, Type } from '@sinclair/typebox'
import { amountMax } from '../lib/money.ts'

/** One of a few words. Not Elysia's t.UnionEnum, which sets a missing field to its first value. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, options: { description?: string } = {}) =>
  Type.Unsafe<Words[number]>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  )

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** Gives several fields one schema. */
export const fieldsOf = <Schema extends TSchema, Name extends string>(schema: Schema, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>

/** A whole number in a body. Elysia's t.Integer would accept the text "5". */
export const integer = (options: { minimum?: number; maximum?: number; description?: string } = {}) => Type.Integer(options)

/** `rule` completes the message "Expected …" of a text that does not match. */
type Form = { readonly pattern: string; readonly rule: string }
type TextOptions = { readonly minLength?: number; readonly description?: string } & (Form | { readonly pattern?: never })

/** The pattern is checked only if the length is right: see src/http/schema-shape.ts. */
export const text = (maxLength: number, options: TextOptions = {}) => Type.String({ maxLength, ...options })
export const CurrencyCode = text(3, { pattern: '^[A-Z]{3}$', rule: 'three capital letters, as USD', description: 'ISO 4217' })
export const MoneySchema = Type.Object(
  { amount: integer({ minimum: 0, maximum: amountMax, description: 'Minor units' }), currency: CurrencyCode },
  { title: 'Money' },
)
