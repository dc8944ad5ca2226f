import { FormatRegistry, type TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { CurrencyCode, fieldsOf, integer, MoneySchema, nullable, oneOf, text } from '../core/schema.ts'
import { instantPattern } from '../lib/instant.ts'
import { isMailAddress } from '../lib/mail-address.ts'
import { isHandle } from '../lib/search-terms.ts'

export { CurrencyCode, fieldsOf, integer, MoneySchema, nullable, oneOf, text }

/** May be left out or null. */
export const maybe = <Schema extends TSchema>(schema: Schema) => t.Optional(nullable(schema))
/** Control characters, line and paragraph separators, and what overrides or isolates the direction of text. */
const unseen = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069'
/**
 * What may stand between others and shows nothing by itself: joiners and marks, fillers and blanks that are no white
 * space.
 */
const shapeless =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2064\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
/** Of a text that must hold something that can be seen: of a name that shows nothing there is nothing to press. */
export const notBlank = { minLength: 1, pattern: `[^\\s${unseen}${shapeless}]`, rule: 'a text that is not blank' } as const
/**
 * Of a name that the public reads: one line that is not blank, in which nothing says how it is shown. What is unseen is
 * not taken; marks of direction are, which some scripts need.
 */
export const publicName = {
  minLength: 1,
  pattern: `^[^${unseen}]*[^\\s${unseen}${shapeless}][^${unseen}]*$`,
  rule: 'a text that is not blank, without control characters, line breaks and overrides of its direction',
} as const
/** Of what somebody types to be given something: one word, in which everything can be seen. */
export const codeForm = { pattern: `^[^\\s${unseen}${shapeless}]+$`, rule: 'a text without blanks and control characters' } as const
/** What sets a tax class apart, of a variant and of a rate. */
export const taxClass = (description: string) =>
  text(40, { pattern: '^[a-z0-9][a-z0-9_-]*$', rule: 'lower-case letters, digits, - and _', description })
/** The path of a record. */
export const RecordId = t.Object({ id: text(64) })
export const Instant = t.String({ format: 'date-time', description: 'ISO 8601, UTC', maxLength: 40 })
/** Of a day in a query; whether the calendar has it is looked at after. */
export const dayForm = { pattern: '^\\d{4}-\\d{2}-\\d{2}$', rule: 'a day, as 2026-01-31' } as const
/** An instant in a body. */
export const instantOf = (description: string) =>
  t.String({
    format: 'date-time',
    pattern: instantPattern,
    maxLength: 40,
    rule: 'a time with its zone, as 2026-01-31T12:00:00Z',
    description,
  })
FormatRegistry.Set('idn-email', isMailAddress)
/** International addresses too; see lib/mail-address.ts for the form in which they are compared. */
export const Email = t.String({ format: 'idn-email', minLength: 3, maxLength: 254, rule: 'an e-mail address' })
export const Url = t.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#:@]',
  maxLength: 2048,
  rule: 'an address that begins with http:// or https://',
})
FormatRegistry.Set('handle', isHandle)
/**
 * Handles in URLs: letters and digits of any script, `-` and `_`, without capitals. The format decides; the pattern
 * says as much of it in the OpenAPI document as a pattern without the `u` flag can.
 */
const handlePattern = '^[^\\u0000-,./:-^`{-\\u00bf\\u2000-\\u206f\\u3000]+$'
export const handleForm = {
  format: 'handle',
  pattern: handlePattern,
  rule: 'letters and digits of any script, - and _, without capitals',
} as const
export const CountryCode = text(2, { pattern: '^[A-Z]{2}$', rule: 'two capital letters, as US', description: 'ISO 3166-1 alpha-2' })
export const ErrorBody = t.Object(
  {
    statusCode: t.Number(),
    message: t.String(),
    error: t.Optional(t.String()),
    code: t.Optional(t.String({ description: 'A stable word for what went wrong' })),
  },
  { title: 'Error' },
)

/**
 * Under which a `response` map has its errors: no status, so that Elysia compiles no check of what http/errors.ts
 * answers past it.
 */
export const errorStatuses = Symbol('the statuses of errors')

/**
 * The errors that a route can answer with, for its `response` map and the document. Every route may meet 400, 500 and
 * 503.
 */
export const errorResponses = (...statuses: number[]) => ({ [errorStatuses]: [400, 500, 503, ...statuses] })

/** Of the cached public reads, for their `response` map; see http/public-cache.ts. */
export const notModified = t.Void({ description: 'Not changed since the version in `if-none-match`' })

/** A page of a list; see lib/page.ts. */
export const pageOf = <Schema extends TSchema>(item: Schema) =>
  t.Object({ data: t.Array(item), page: integer(), limit: integer(), total: integer(), pages: integer() })

/**
 * Whole numbers in queries are text with a pattern: a failing t.Numeric cannot say which field it was. `x-type` is for
 * the document.
 */
export const pageQuery = {
  page: t.Optional(
    t.String({ pattern: '^[1-9]\\d{0,14}$', maxLength: 15, rule: 'a whole number from 1', description: 'From 1', 'x-type': 'integer' }),
  ),
  limit: t.Optional(
    t.String({
      pattern: '^-?\\d{1,100}$',
      maxLength: 101,
      rule: 'a whole number',
      description: 'Default 20, clamped to 1..100',
      'x-type': 'integer',
    }),
  ),
}
