/** The fields of a draft order, as signals. */
import { type Signal, signal } from '@preact/signals'
import type { Schema } from '../../lib/api/api.ts'
import { customerChoice, type FoundRecord } from '../../lib/api/record-search.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { draftValues, setFields } from '../../lib/forms/draft.ts'
import { type AddressForm, addressOf, createAddressForm } from '../../ui/address.tsx'
import type { DraftText, LineText } from './draft.domain.ts'

export type DraftLine = Omit<LineText, 'quantity' | 'price'> & { readonly quantity: Signal<string>; readonly price: Signal<string> }
/** Who sets an address: the shopper or the shop. */
export type AddressSource = 'shopper' | 'shop' | 'same'

export type DraftForm = {
  readonly lines: Signal<readonly DraftLine[]>
  readonly email: Signal<string>
  readonly customer: Signal<readonly (FoundRecord<Schema<'Customer'>> | Choice)[]>
  readonly shippingBy: Signal<AddressSource>
  readonly shipping: AddressForm
  readonly billingBy: Signal<AddressSource>
  readonly billing: AddressForm
  readonly shippingMethod: Signal<string>
  readonly discountCode: Signal<string>
  readonly note: Signal<string>
}

/** Creates the fields of a line. */
export const createDraftLine = ({ quantity, price, ...line }: LineText): DraftLine => ({
  ...line,
  quantity: signal(quantity),
  price: signal(price),
})

/** @param country default country of an empty address */
export function createDraftForm(values: DraftText, country: string): DraftForm {
  const isSame = values.billingAddress !== null && JSON.stringify(values.billingAddress) === JSON.stringify(values.shippingAddress)
  return {
    lines: signal(values.lines.map(createDraftLine)),
    email: signal(values.email),
    customer: signal(values.customerId === null ? [] : [{ id: values.customerId, text: values.customerId }]),
    shippingBy: signal<AddressSource>(values.shippingAddress ? 'shop' : 'shopper'),
    shipping: createAddressForm(values.shippingAddress, country),
    billingBy: signal<AddressSource>(isSame ? 'same' : values.billingAddress ? 'shop' : 'shopper'),
    billing: createAddressForm(values.billingAddress, country),
    shippingMethod: signal(values.shippingMethod),
    discountCode: signal(values.discountCode),
    note: signal(values.note),
  }
}

/** Sets the fields' values and keeps the signals, so that the focus stays. */
export function fillDraftForm(form: DraftForm, values: DraftText, country: string): void {
  const { shipping, billing, customer, ...otherFields } = createDraftForm(values, country)
  setFields(form.shipping, draftValues(shipping))
  setFields(form.billing, draftValues(billing))
  // The name of the same customer is loaded already.
  if (form.customer.value[0]?.id !== customer.value[0]?.id) form.customer.value = customer.value
  for (const [name, field] of Object.entries(otherFields)) (form[name as keyof typeof otherFields] as Signal<unknown>).value = field.value
}

/** Returns the form's values. */
export function readDraftForm(form: DraftForm): DraftText {
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

/** Replaces a customer's id by their name. */
export function setCustomerName(form: DraftForm, customer: Schema<'Customer'>): void {
  if (form.customer.value[0]?.id === customer.id) form.customer.value = [customerChoice(customer)]
}
