/** An address as it is typed, and as the API takes it. */
export const emptyAddress = {
  name: '',
  company: '',
  line1: '',
  line2: '',
  city: '',
  province: '',
  postalCode: '',
  countryCode: '',
  phone: '',
}

type Typed = typeof emptyAddress & { readonly isDefaultShipping: boolean; readonly isDefaultBilling: boolean }

const orNull = (text: string): string | null => text.trim() || null

/** What was left empty is nothing, and a default is only ever given: that another one loses it, souk sees to. */
export const bodyOfAddress = ({ name, line1, city, countryCode, company, line2, province, postalCode, phone, ...defaults }: Typed) => ({
  name: name.trim(),
  line1: line1.trim(),
  city: city.trim(),
  countryCode,
  company: orNull(company),
  line2: orNull(line2),
  province: orNull(province),
  postalCode: orNull(postalCode),
  phone: orNull(phone),
  ...defaults,
})
