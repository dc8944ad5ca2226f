/** The fields of a draft order, as signals. */
import { type Signal, signal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { customerChoice, type FoundRecord } from '../../lib/api/record-search.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { fill, textsOf } from '../../lib/forms/draft.ts'
import { type AddressForm, addressOf, createAddressForm } from '../../ui/address.tsx'
import type { Typed, TypedLine } from './draft.domain.ts'

export type LineForm = Omit<TypedLine, 'quantity' | 'price'> & { readonly quantity: Signal<string>; readonly price: Signal<string> }
/** Who says an address: whoever pays, or the shop. */
export type Says = 'shopper' | 'shop' | 'same'

export type DraftForm = {
  readonly lines: Signal<readonly LineForm[]>
  readonly email: Signal<string>
  readonly customer: Signal<readonly (FoundRecord<Schema<'Customer'>> | Choice)[]>
  readonly shippingBy: Signal<Says>
  readonly shipping: AddressForm
  readonly billingBy: Signal<Says>
  readonly billing: AddressForm
  readonly shippingMethod: Signal<string>
  readonly discountCode: Signal<string>
  readonly note: Signal<string>
}

export const lineForm = ({ quantity, price, ...line }: TypedLine): LineForm => ({
  ...line,
  quantity: signal(quantity),
  price: signal(price),
})

/** @param country of the shop, where an address says none yet */
export function formOf(typed: Typed, country: string): DraftForm {
  const isSame = typed.billingAddress !== null && JSON.stringify(typed.billingAddress) === JSON.stringify(typed.shippingAddress)
  return {
    lines: signal(typed.lines.map(lineForm)),
    email: signal(typed.email),
    customer: signal(typed.customerId === null ? [] : [{ id: typed.customerId, text: typed.customerId }]),
    shippingBy: signal<Says>(typed.shippingAddress ? 'shop' : 'shopper'),
    shipping: createAddressForm(typed.shippingAddress, country),
    billingBy: signal<Says>(isSame ? 'same' : typed.billingAddress ? 'shop' : 'shopper'),
    billing: createAddressForm(typed.billingAddress, country),
    shippingMethod: signal(typed.shippingMethod),
    discountCode: signal(typed.discountCode),
    note: signal(typed.note),
  }
}

/** Puts what stands there now into the fields, which stay what they are: whoever types in one goes on in it. */
export function take(form: DraftForm, typed: Typed, country: string): void {
  const { shipping, billing, customer, ...fresh } = formOf(typed, country)
  fill(form.shipping, textsOf(shipping))
  fill(form.billing, textsOf(billing))
  // Of the same customer the name is known.
  if (form.customer.value[0]?.id !== customer.value[0]?.id) form.customer.value = customer.value
  for (const [name, field] of Object.entries(fresh)) (form[name as keyof typeof fresh] as Signal<unknown>).value = field.value
}

/** What stands in it now. */
export function typedIn(form: DraftForm): Typed {
  const shippingAddress = form.shippingBy.value === 'shop' ? addressOf(form.shipping) : null
  const { billingBy } = form
  return {
    lines: form.lines.value.map(({ quantity, price, ...line }) => ({ ...line, quantity: quantity.value, price: price.value })),
    email: form.email.value,
    customerId: form.customer.value[0]?.id ?? null,
    shippingAddress,
    billingAddress: billingBy.value === 'same' ? shippingAddress : billingBy.value === 'shop' ? addressOf(form.billing) : null,
    shippingMethod: form.shippingMethod.value,
    discountCode: form.discountCode.value,
    note: form.note.value,
  }
}

/** Puts a customer's name in the place of their id, once it is known. */
export function nameCustomer(form: DraftForm, of: Schema<'Customer'>): void {
  if (form.customer.value[0]?.id === of.id) form.customer.value = [customerChoice(of)]
}
