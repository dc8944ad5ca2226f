import type { Address } from '../../../../db/schema/selling.ts'
import type { NewPayment } from '../../../clients/processors/processor.ts'
import { defined } from '../../../lib/objects.ts'

/** What only the beginning of a payment needs, and nobody afterwards: sealed on its row until its processor has answered. */
export type SealedDetails = { readonly token?: string; readonly shopper?: NewPayment['shopper'] }

/** An order, as far as processors ask who pays it. */
export type Payer = { readonly email: string; readonly billingAddress: Address | null; readonly shippingAddress: Address | null }

/** What a processor is told of whoever pays. */
export function shopperOf({ email, billingAddress, shippingAddress }: Payer): NonNullable<NewPayment['shopper']> {
  const address = billingAddress ?? shippingAddress
  return { email, ...defined({ name: address?.name, country: address?.countryCode }) }
}

export const sealedDetailsText = (beginning: SealedDetails): string => JSON.stringify(beginning)

/** What is sealed on a payment's row. Versions before this one have sealed the token alone. */
export function parseSealedDetails(text: string): SealedDetails {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && ('shopper' in read || 'token' in read)) return read as SealedDetails
  } catch {}
  return { token: text }
}
