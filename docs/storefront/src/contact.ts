import { addressFields, servedCountries, typedAddress } from './address.ts'
import type { Schema } from './api.ts'
import type { Cart } from './cart.ts'
import { h, refill } from './dom.ts'
import { field, form, select, typed } from './form.ts'
import { type Shown, section } from './layout.ts'
import { askAsCustomer, askAsShopper, isLoggedIn } from './session.ts'

type ContactStep = {
  /** Whether the cart needs a shipping address. */
  readonly isShipped: boolean
  /** Receives the pending change of the cart. */
  readonly done: (changed: Promise<Cart>) => Promise<void>
}

/**
 * The form for contact information and, if the cart is shipped, the address. A customer's name and address are filled
 * in.
 */
export async function contactStep(cart: Cart, { words }: Shown, { isShipped, done }: ContactStep): Promise<HTMLElement> {
  const [countries, book, me] = await Promise.all([
    isShipped ? servedCountries() : [],
    isShipped && isLoggedIn() ? askAsCustomer('GET /customer/me/addresses', { query: { limit: 100 } }) : { data: [] },
    isLoggedIn() ? askAsCustomer('GET /customer/me', {}) : undefined,
  ])
  const fields = h('div', {})
  const fill = (known: Partial<Schema<'PostalAddress'>> | undefined) => refill(fields, addressFields(countries, words, known))
  const usual = book.data.find(({ isDefaultShipping }) => isDefaultShipping) ?? book.data[0]
  if (isShipped) fill(cart.shippingAddress ?? usual ?? { name: me?.name ?? '' })
  return section(
    isShipped ? words.whereTo : words.contact,
    form(
      {
        words,
        submit: words.goOn,
        async onSubmit(values) {
          const body = { email: typed(values, 'email'), ...(isShipped && { shippingAddress: typedAddress(values) }) }
          await done(askAsShopper('PATCH /cart/{id}', { path: { id: cart.id }, body }))
        },
      },
      field({
        label: words.email,
        name: 'email',
        type: 'email',
        required: true,
        maxlength: 254,
        autocomplete: 'email',
        value: cart.email ?? me?.email,
      }),
      book.data.length > 0 &&
        select({
          label: words.addressBook,
          name: 'book',
          value: cart.shippingAddress ? '' : (usual?.id ?? ''),
          choices: [
            { value: '', label: words.otherAddress },
            ...book.data.map(({ id, name, line1, city }) => ({ value: id, label: [name, line1, city].join(', ') })),
          ],
          onchange: (id) => fill(book.data.find((one) => one.id === id)),
        }),
      fields,
    ),
  )
}
