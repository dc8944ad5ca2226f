import type { Address } from '../../../../db/schema/selling.ts'
import type { NewPayment } from '../../../clients/processors/processor.ts'
import { withoutUndefined } from '../../../lib/objects.ts'

/** Details that only the start of a payment needs. They are sealed on its row until its processor has answered. */
type SealedDetails = { readonly token?: string; readonly shopper?: NewPayment['shopper'] }

/** The fields of an order that processors ask for. */
export type Payer = { readonly email: string; readonly billingAddress: Address | null; readonly shippingAddress: Address | null }

/** Returns the shopper's details for a processor. */
export function shopperOf({ email, billingAddress, shippingAddress }: Payer): NonNullable<NewPayment['shopper']> {
  const address = billingAddress ?? shippingAddress
  return { email, ...withoutUndefined({ name: address?.name, country: address?.countryCode }) }
}

/** Formats details for sealing. Inverse of `parseSealedDetails`. */
export const sealedDetailsText = (beginning: SealedDetails): string => JSON.stringify(beginning)

/** Parses the sealed details of a payment. Older versions sealed the token alone. */
export function parseSealedDetails(text: string): SealedDetails {
  try {
    const read: unknown = JSON.parse(text)
    if (typeof read === 'object' && read !== null && ('shopper' in read || 'token' in read)) return read as SealedDetails
  } catch {}
  return { token: text }
}
