/** Messages in the body of an answer. Each code has one fixed sentence, so that no text of a shop or caller enters. */

const errors = {
  missing: 'This field is needed to complete the checkout.',
  out_of_stock: 'This item is out of stock.',
  item_unavailable: 'The shop does not sell this item.',
  address_undeliverable: 'The shop does not ship to this address.',
  payment_failed: 'The payment was not accepted. Try another way to pay.',
  handler_unavailable: 'This way to pay is not available for this checkout.',
  price_changed: 'The checkout changed since it was last shown. Show the new totals, then complete again with a new key.',
} as const
const warnings = {
  quantity_adjusted: 'Fewer units are available, so the quantity was lowered.',
  discount_code_invalid: 'This discount code does not apply.',
  discount_code_combination_disallowed: 'Only one discount code applies, and another one takes off more.',
} as const
const infos = {
  tax_included: 'The prices include tax.',
  not_found: 'There is no such product.',
} as const
export type ErrorMessageCode = keyof typeof errors | 'not_found' | 'capabilities_incompatible'
type WarningCode = keyof typeof warnings
export type InfoCode = keyof typeof infos

/** A message of the protocol. `path`: JSONPath of the field that it is about. */
export type UcpMessage =
  | { type: 'error'; code: ErrorMessageCode; path?: string; content: string; severity: 'recoverable' | 'unrecoverable' }
  | { type: 'warning'; code: WarningCode; path?: string; content: string }
  | { type: 'info'; code: InfoCode; path?: string; content: string }

const at = (path: string | undefined) => (path === undefined ? {} : { path })

/**
 * Creates a message about a problem that the platform can solve.
 * @param path JSONPath of the field, such as `$.buyer.email`
 */
export const errorMessage = (code: keyof typeof errors, path?: string): UcpMessage => ({
  type: 'error',
  code,
  ...at(path),
  content: errors[code],
  severity: 'recoverable',
})
/**
 * Creates a message about something that was changed or ignored; the request succeeded.
 * @param path JSONPath of the field
 */
export const warningMessage = (code: WarningCode, path?: string): UcpMessage => ({
  type: 'warning',
  code,
  ...at(path),
  content: warnings[code],
})
/**
 * Creates a message that needs no action.
 * @param path JSONPath of the field
 */
export const infoMessage = (code: InfoCode, path?: string): UcpMessage => ({ type: 'info', code, ...at(path), content: infos[code] })

const unrecoverable = { type: 'error', severity: 'unrecoverable' } as const
/** The message of an answer that has no resource. */
export const notFoundMessage: UcpMessage = { ...unrecoverable, code: 'not_found', content: 'There is no such record.' }
/** The message of an answer to a platform that lacks the capability of the operation. */
export const incompatibleMessage: UcpMessage = {
  ...unrecoverable,
  ...{ code: 'capabilities_incompatible', content: 'The shop and the platform have no capability in common for this request.' },
}
