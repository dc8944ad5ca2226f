import { at, role } from '../../lib/session/current-shop.ts'
import { Address } from '../../ui/address.tsx'
import { Facts } from '../../ui/bits.tsx'
import { Section } from '../../ui/page.tsx'
import { w } from './i18n.ts'
import type { Order } from './kit.tsx'

/** Who ordered, and where it goes. */
export function People({ of }: { of: Order }) {
  const { customerId, shippingAddress, billingAddress, email, affiliate } = of
  const isSame = JSON.stringify(shippingAddress) === JSON.stringify(billingAddress)
  return (
    <Section title={w('people')}>
      <Facts
        of={[
          [w('email'), email === null ? w('guest') : <bdi>{email}</bdi>],
          ...(customerId !== null && role.value !== 'FULFILMENT'
            ? [[w('customer'), <a href={at('customers', customerId)}>{w('customerPage')}</a>] as const]
            : []),
          [w('shippingAddress'), shippingAddress ? <Address of={shippingAddress} /> : undefined],
          [w('billingAddress'), isSame && billingAddress ? w('sameAddress') : billingAddress ? <Address of={billingAddress} /> : undefined],
          ...(affiliate ? [[w('affiliate'), <bdi>{affiliate.code}</bdi>] as const] : []),
        ]}
      />
    </Section>
  )
}
