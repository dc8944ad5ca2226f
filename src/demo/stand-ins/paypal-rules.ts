/** Validates requests to the PayPal stand-in. */

export type Json = Record<string, unknown>
export type Money = { currency_code: string; value: string }

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly json: Json,
  ) {
    super(JSON.stringify(json))
  }
}
const names: Readonly<Record<number, string>> = {
  400: 'INVALID_REQUEST',
  403: 'NOT_AUTHORIZED',
  404: 'RESOURCE_NOT_FOUND',
  409: 'RESOURCE_CONFLICT',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_ENTITY',
}
/**
 * Creates an error response in PayPal's form, whose code is in `details[0].issue`.
 * @param field the parameter that is wrong
 */
export const createRefusal = (status: number, issue: string, field?: string) =>
  new Refused(status, {
    name: names[status] ?? 'ERROR',
    message: 'no',
    debug_id: 'debug',
    details: [{ issue, description: 'no', ...(field ? { field } : {}) }],
  })

const currencies = 'AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD'.split(' ')

/**
 * Returns a JSON object whose fields are all in `names`.
 * @throws Refused for another value or an unknown field
 */
export function parseFields(json: unknown, names: readonly string[]): Json {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw createRefusal(400, 'INVALID_PARAMETER_SYNTAX')
  const unknown = Object.keys(json).filter((name) => !names.includes(name))
  if (unknown.length > 0) throw createRefusal(400, 'UNSUPPORTED_PARAMETER', unknown[0])
  return json as Json
}

/**
 * Parses a body as `parseFields` does.
 * @throws Refused, also if the body is not JSON
 */
export function objectIn(body: string, names: readonly string[]): Json {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    throw createRefusal(400, 'MALFORMED_REQUEST_JSON')
  }
  return parseFields(json, names)
}

/**
 * Returns an optional text of 1 to `lengthMax` characters.
 * @throws Refused for another value
 */
export function textIn(value: unknown, lengthMax: number, field: string): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string' || value === '' || value.length > lengthMax) throw createRefusal(400, 'INVALID_STRING_LENGTH', field)
  return value
}

/**
 * Reads an amount in one of PayPal's currencies, with the decimals that it allows.
 * @throws Refused, also for an amount of 0
 */
export function moneyIn(json: unknown): Money {
  const { currency_code: currency, value } = parseFields(json, ['currency_code', 'value'])
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) throw createRefusal(400, 'INVALID_PARAMETER_SYNTAX', 'currency_code')
  if (!currencies.includes(currency)) throw createRefusal(422, 'CURRENCY_NOT_SUPPORTED', 'currency_code')
  if (typeof value !== 'string' || value.length > 32 || !/^\d+(\.\d+)?$/.test(value))
    throw createRefusal(400, 'INVALID_PARAMETER_SYNTAX', 'value')
  const decimals = value.split('.')[1]?.length ?? 0
  if (decimals > 2 || (decimals > 0 && ['HUF', 'JPY', 'TWD'].includes(currency))) throw createRefusal(422, 'DECIMAL_PRECISION', 'value')
  if (Number(value) === 0) throw createRefusal(422, 'CANNOT_BE_ZERO_OR_NEGATIVE', 'value')
  return { currency_code: currency, value }
}

/** Returns an amount in hundredths of the major unit, also in currencies without decimals. */
export const centsOf = ({ value }: Money): number => Math.round(Number(value) * 100)
