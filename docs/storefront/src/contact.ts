import { addressFields, servedCountries, typedAddress } from './address.ts'
import type { Schema } from './api.ts'
import type { Cart } from './cart.ts'
import { h, refill } from './dom.ts'
import { field, form, select, typed } from './form.ts'
import { type Shown, section } from './layout.ts'
import { askAsCustomer, askAsShopper, isLoggedIn } from './session.ts'

/**
 * Who buys, and where it goes; a customer's own address is filled in.
 * @param done is given the change of the cart that is on its way
 */
export async function contactStep(cart: Cart, { words }: Shown, done: (changed: Promise<Cart>) => Promise<void>): Promise<HTMLElement> {
  const [countries, book, me] = await Promise.all([
    servedCountries(),
    isLoggedIn() ? askAsCustomer('GET /customer/me/addresses', { query: { limit: 100 } }) : { data: [] },
    isLoggedIn() && cart.email === null ? askAsCustomer('GET /customer/me', {}) : undefined,
  ])
  const fields = h('div', {})
  const fill = (known: Partial<Schema<'PostalAddress'>> | undefined) => refill(fields, addressFields(countries, words, known))
  const usual = book.data.find(({ isDefaultShipping }) => isDefaultShipping) ?? book.data[0]
  fill(cart.shippingAddress ?? usual)
  return section(
    words.whereTo,
    form(
      {
        words,
        submit: words.goOn,
        async onSubmit(values) {
          const body = { email: typed(values, 'email'), shippingAddress: typedAddress(values) }
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
