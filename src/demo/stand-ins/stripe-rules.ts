/** Validates requests to the Stripe stand-in, and signs its events. */
import { createHmac } from 'node:crypto'

export type Json = Record<string, unknown>

export type Intent = {
  id: string
  amount: number
  currency: string
  status: string
  amount_capturable: number
  amount_received: number
  capture_method: string
  client_secret: string
  created: number
  metadata: Record<string, string>
  last_payment_error: Json | null
  next_action: Json | null
  cancellation_reason: string | null
  charge: { id: string; amount_refunded: number } | undefined
}
export type Refund = {
  id: string
  amount: number
  payment_intent: string
  status: string
  currency: string
  metadata: Json
  failure_reason?: string
}

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly error: Json,
    /** Whether the idempotency key stores this response. Stripe stores none if validation failed. */
    readonly stored = false,
  ) {
    super(String(error['message']))
  }
}
/**
 * Creates an error of status 400 in Stripe's form.
 * @param more further fields of the error, such as `param`
 */
export const invalid = (message: string, more: Json = {}) => new Refused(400, { type: 'invalid_request_error', message, ...more })
/**
 * Creates the error of an object that does not exist.
 * @param param the parameter that names it
 */
export const notFound = (what: string, param: string, status = 404) =>
  new Refused(status, { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}`, param })

/**
 * Parses fields. Each must be in `names`, unique and not empty. `expand[]` and `metadata[]` allow any text in the
 * brackets.
 */
export function parse(sent: Iterable<[string, string]>, names: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of sent) {
    const isKnown = names.includes(name) || names.includes(name.replace(/^(expand|metadata)\[\w+\]$/, '$1[]'))
    if (!isKnown) throw invalid(`Received unknown parameter: ${name}`, { code: 'parameter_unknown', param: name })
    if (fields.has(name) || value === '') throw invalid(`Invalid ${name}`, { code: 'parameter_invalid_empty', param: name })
    fields.set(name, value)
  }
  return fields
}

/** Returns the fields `metadata[name]` by name. */
export const metadataIn = (fields: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...fields].flatMap(([name, value]) => (name.startsWith('metadata[') ? [[name.slice(9, -1), value]] : [])))

/** Parses an amount in Stripe's units and checks the rules of its currency. */
export function amountIn(text: string | undefined, currency: string): number {
  if (!/^[a-z]{3}$/.test(currency)) throw invalid('Invalid currency', { param: 'currency' })
  if (!/^[1-9]\d*$/.test(text ?? '')) throw invalid('Invalid integer', { code: 'parameter_invalid_integer', param: 'amount' })
  const amount = Number(text)
  if (amount > 99_999_999) throw invalid('too large', { code: 'amount_too_large', param: 'amount' })
  if (['isk', 'ugx'].includes(currency) && amount % 100 !== 0)
    throw invalid('no decimals', { code: 'invalid_charge_amount_no_decimal_compatible', param: 'amount' })
  if (['bhd', 'jod', 'kwd', 'omr', 'tnd'].includes(currency) && amount % 10 !== 0) throw invalid('two decimals', { param: 'amount' })
  return amount
}

/** Returns the signature header of a body. */
export function signature(body: Uint8Array, { at, secret }: { at: number; secret: string }): string {
  const time = Math.floor(at / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')},v0=${'0'.repeat(64)}`
}
