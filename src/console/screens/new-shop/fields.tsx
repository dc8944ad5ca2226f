import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { countryOptions, currencyOptions } from '../../lib/format/locale-lists.ts'
import { common } from '../../lib/i18n/common.ts'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { t } from './i18n.ts'
import { currencyOf, handleOf, type NewShopTexts } from './new-shop.domain.ts'

type NewShopSignals = { readonly [Name in keyof NewShopTexts]: Signal<string> }

/** Guesses the country from the browser's language, such as `en-US`. */
function guessCountry(): string {
  const region = navigator.languages.map((tag) => new Intl.Locale(tag).region).find((found) => found !== undefined) ?? ''
  return countryOptions().some(([code]) => code === region) ? region : ''
}

/** Creates the signals of the form. */
export function useNewShop(): NewShopSignals {
  const country = useSignal(guessCountry())
  return { title: useSignal(''), shopName: useSignal(''), country, currency: useSignal(currencyOf(country.peek())) }
}

/** Returns the typed values. */
export const textsOf = ({ title, shopName, country, currency }: NewShopSignals): NewShopTexts => ({
  title: title.value,
  shopName: shopName.value,
  country: country.value,
  currency: currency.value,
})

/** The fields of a new shop. The handle follows the name, and the currency the country, until they are changed. */
export function NewShopFields({ fields: { title, shopName, country, currency } }: { fields: NewShopSignals }) {
  const derivedHandle = useSignal('')
  const derivedCurrency = useSignal(currency.peek())
  useEffect(() => {
    if (shopName.peek() === derivedHandle.peek()) shopName.value = derivedHandle.value = handleOf(title.value)
  }, [title.value])
  function handleCountry(): void {
    if (currency.peek() !== derivedCurrency.peek()) return
    currency.value = derivedCurrency.value = currencyOf(country.peek())
  }
  return (
    <>
      <TextField bind={title} label={t('title')} name="title" max={200} autoComplete="organization" required />
      <TextField bind={shopName} label={common('handle')} name="shopName" max={63} hint={t('handleHint')} code required />
      <SelectField
        bind={country}
        label={common('address.countryCode')}
        name="country"
        options={[['', t('choose')], ...countryOptions()]}
        onSelect={handleCountry}
        required
      />
      <SelectField
        bind={currency}
        label={t('currency')}
        name="currency"
        options={[['', t('choose')], ...currencyOptions()]}
        hint={t('currencyHint')}
        required
      />
    </>
  )
}
