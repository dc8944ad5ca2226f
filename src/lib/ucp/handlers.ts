import { authorityOf, type Release } from './releases.ts'

/** Id of the payment handler for test payments. */
export const sandboxHandlerId = 'sandbox'
export const sandboxHandlerPath = '/ucp/handlers/sandbox'

/**
 * Returns the payment handlers that a shop offers to platforms, by their full names. In LIVE mode people pay by a link.
 * @param publicUrl of this instance, without a trailing slash
 */
export function paymentHandlersOf(mode: 'TEST' | 'LIVE', publicUrl: string, release: Release): Record<string, object[]> {
  if (mode !== 'TEST') return {}
  const sandbox = {
    id: sandboxHandlerId,
    version: release,
    spec: `${publicUrl}${sandboxHandlerPath}/spec`,
    schema: `${publicUrl}${sandboxHandlerPath}`,
    available_instruments: [{ type: 'token' }],
  }
  return { [`${authorityOf(new URL(publicUrl).hostname, release)}.sandbox`]: [sandbox] }
}
