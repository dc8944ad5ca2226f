/** Messages in the body of an answer. Each code has one fixed sentence, so that no text of a shop or caller enters. */

const table = {
  missing: ['error', 'This field is needed to complete the checkout.'],
  out_of_stock: ['error', 'This item is out of stock.'],
  item_unavailable: ['error', 'The shop does not sell this item.'],
  address_undeliverable: ['error', 'The shop does not ship to this address.'],
  payment_failed: ['error', 'The payment was not accepted. Try another way to pay.'],
  handler_unavailable: ['error', 'This way to pay is not available for this checkout.'],
  price_changed: ['error', 'The checkout changed since it was last shown. Show the new totals, then complete again with a new key.'],
  quantity_adjusted: ['warning', 'Fewer units are available, so the quantity was lowered.'],
  discount_code_invalid: ['warning', 'This discount code does not apply.'],
  discount_code_combination_disallowed: ['warning', 'Only one discount code applies, and another one takes off more.'],
  tax_included: ['info', 'The prices include tax.'],
  not_found: ['info', 'There is no such product.'],
} as const
export type MessageCode = keyof typeof table

/** A message of the protocol. `path`: JSONPath of the field that it is about. `severity`: of errors. */
export type UcpMessage = {
  type: 'error' | 'warning' | 'info'
  code: MessageCode | 'capabilities_incompatible'
  path?: string
  content: string
  severity?: 'recoverable' | 'unrecoverable'
}

/**
 * Creates a message. The platform can solve the problem of an error.
 * @param path JSONPath of the field, such as `$.buyer.email`
 */
export function ucpMessage(code: MessageCode, path?: string): UcpMessage {
  const [type, content] = table[code]
  return { type, code, ...(path === undefined ? {} : { path }), content, ...(type === 'error' ? { severity: 'recoverable' } : {}) }
}

const unrecoverable = { type: 'error', severity: 'unrecoverable' } as const
/** The message of an answer that has no resource. */
export const notFoundMessage: UcpMessage = { ...unrecoverable, code: 'not_found', content: 'There is no such record.' }
/** The message of an answer to a platform that lacks the capability of the operation. */
export const incompatibleMessage: UcpMessage = {
  ...unrecoverable,
  code: 'capabilities_incompatible',
  content: 'The shop and the platform have no capability in common for this request.',
}
