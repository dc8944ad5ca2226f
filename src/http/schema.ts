import { FormatRegistry, type ObjectOptions, type TProperties, type TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { errorCodes } from '../core/error-codes.ts'
import { CurrencyCode, fieldsOf, integer, MoneySchema, nullable, oneOf, text } from '../core/schema.ts'
import { instantPattern } from '../lib/instant.ts'
import { isMailAddress } from '../lib/mail-address.ts'
import { isHandle } from '../lib/search-terms.ts'
import { taxRateMaxBps } from '../lib/tax-rate.ts'

export { CurrencyCode, fieldsOf, integer, MoneySchema, nullable, oneOf, text }

/** Allows a field to be left out, or null. */
export const maybe = <Schema extends TSchema>(schema: Schema) => t.Optional(nullable(schema))
/** Control characters, line and paragraph separators, and what overrides or isolates the direction of text. */
const invisibleCharacters = '\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069'
/**
 * Characters that are invisible on their own: joiners, marks, fillers and blanks that are not white space.
 */
const shapeless =
  '\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2064\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0'
/** Text with at least one visible character, so that a link or button with it can be pressed. */
export const notBlank = { minLength: 1, pattern: `[^\\s${invisibleCharacters}${shapeless}]`, rule: 'text that is not blank' } as const
/**
 * A name that the public reads: one line with a visible character, without control characters. Direction marks are
 * allowed, since some scripts need them.
 */
export const publicName = {
  minLength: 1,
  pattern: `^[^${invisibleCharacters}]*[^\\s${invisibleCharacters}${shapeless}][^${invisibleCharacters}]*$`,
  rule: 'one line of text that is not blank, without control characters',
} as const
/** A label of one line, such as a tag, which may be blank. */
export const oneLine = { pattern: `^[^${invisibleCharacters}]*$`, rule: 'one line of text without control characters' } as const
/** A code that people type: one word of visible characters. */
export const codeForm = {
  pattern: `^[^\\s${invisibleCharacters}${shapeless}]+$`,
  rule: 'text without spaces and control characters',
} as const
/** Creates the schema of a variant's or rate's tax class. */
export const taxClass = (description: string) =>
  text(40, { pattern: '^[a-z0-9][a-z0-9_-]*$', rule: 'lower-case letters, digits, - and _', description })
/** A tax rate in basis points. More than two decimals are refused where it is stored. */
export const TaxRateBps = t.Number({
  minimum: 0,
  maximum: taxRateMaxBps,
  description: 'In hundredths of a percent, with at most two decimals: 887.5 is 8.875 %',
})
/** The path of a record. */
export const RecordId = t.Object({ id: text(64) })
/** Creates the schema of an object that ignores other fields: platforms send those of later releases and their own. */
export const openObject = <Fields extends TProperties>(fields: Fields, options: ObjectOptions = {}) =>
  t.Object(fields, { additionalProperties: true, ...options })
export const Instant = t.String({ format: 'date-time', description: 'ISO 8601, UTC', maxLength: 40 })
/** A day in a query. Whether the calendar has it is checked later. */
export const dayForm = { pattern: '^\\d{4}-\\d{2}-\\d{2}$', rule: 'a day such as 2026-01-31' } as const
/** Creates the schema of an instant in a body. */
export const instantOf = (description: string) =>
  t.String({
    format: 'date-time',
    pattern: instantPattern,
    maxLength: 40,
    rule: 'a time with its zone, such as 2026-01-31T12:00:00Z',
    description,
  })
FormatRegistry.Set('idn-email', isMailAddress)
/** International addresses too; see lib/mail-address.ts for the form in which they are compared. */
export const Email = t.String({ format: 'idn-email', minLength: 3, maxLength: 254, rule: 'an email address' })
export const Url = t.String({
  format: 'uri',
  pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#:@]',
  maxLength: 2048,
  rule: 'a URL that begins with http:// or https://',
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
  rule: 'lower-case letters and digits of any script, - and _',
} as const
export const CountryCode = text(2, {
  pattern: '^[A-Z]{2}$',
  rule: 'a two-letter country code such as US',
  description: 'ISO 3166-1 alpha-2',
})
const codeDescription = [
  'Stable code of the error. New codes may be added: handle an unknown one by the status of the response.',
  Object.entries(errorCodes)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n'),
].join('\n\n')
export const ErrorBody = t.Object(
  {
    statusCode: t.Number(),
    message: t.String(),
    error: t.Optional(t.String()),
    // Not an enum: generated clients would reject codes of newer versions.
    code: t.String({ description: codeDescription, 'x-extensible-enum': Object.keys(errorCodes) }),
    field: t.Optional(t.String({ description: 'Path of the first invalid field or parameter, such as `variants.0.price`' })),
    difference: t.Optional(
      t.Record(t.String(), t.Unknown(), {
        description:
          'With `price_difference`: `shippingTotal`, `taxTotal`, `taxIncluded` and `total` of the order, each with `before` and `after`. `after` is null where the shipping method is not offered',
      }),
    ),
  },
  { title: 'ApiError' },
)

/**
 * Key of the errors in a `response` map. It is no status, so Elysia compiles no check of the responses of
 * http/errors.ts.
 */
export const errorStatuses = Symbol('the statuses of errors')

/**
 * Returns the errors that a route can answer with, for its `response` map and the document. Every route may meet 400,
 * 500 and 503.
 */
export const errorResponses = (...statuses: number[]) => ({ [errorStatuses]: [400, 500, 503, ...statuses] })

/** The 304 of cached public reads, for their `response` map; see http/public-response.ts. */
export const notModified = t.Void({ description: 'Not changed since the version in `if-none-match`' })

/** Creates the schema of a page of a list; see lib/page.ts. */
export const pageOf = <Schema extends TSchema>(item: Schema) =>
  t.Object({ data: t.Array(item), page: integer(), limit: integer(), total: integer(), pages: integer() })

/**
 * Whole numbers in queries are text with a pattern: a failing t.Numeric cannot say which field it was. `x-type` is for
 * the document.
 */
export const pageQuery = {
  page: t.Optional(
    t.String({
      pattern: '^[1-9]\\d{0,14}$',
      maxLength: 15,
      rule: 'a whole number of at least 1',
      description: 'Page number, from 1',
      'x-type': 'integer',
    }),
  ),
  limit: t.Optional(
    t.String({
      // Every limit is clamped, also from below 0.
      pattern: '^-?\\d{1,100}$',
      maxLength: 101,
      rule: 'a whole number',
      description: 'Default: 20. Clamped to 1 to 100',
      'x-type': 'integer',
    }),
  ),
}
