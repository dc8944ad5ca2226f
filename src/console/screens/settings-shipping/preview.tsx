import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { noProvinces } from '../../../lib/provinces.ts'
import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { shop, shopName } from '../../lib/session/current-shop.ts'
import { MoneyField, NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { type Method, offersFor, provincesOfCountries } from './methods.domain.ts'

/** Previews the offers for a cart and an address. */
export function ShippingPreview({ methods, currency }: { methods: readonly Method[]; currency: string }) {
  const name = shopName.value ?? ''
  const cart = useMemo(
    () => ({ country: signal(shop.value?.country ?? 'US'), province: signal(''), grams: signal('500'), amount: signal('') }),
    [],
  )
  // A suspended shop serves no countries, so provinces match by spelling and local names.
  const countryData = useResource(name, async (signal) => {
    const [{ data }, { localProvinceNames }] = await Promise.all([
      ok(api.GET('/shops/v2/public/name/{shopName}/countries', { params: { path: { shopName: name } }, signal })).catch(() => ({
        data: [],
      })),
      import('../../../lib/province-names.ts'),
    ])
    return { countries: data, table: provincesOfCountries(data, localProvinceNames()) }
  })
  const { countries, table } = countryData.data.value ?? { countries: [], table: noProvinces }
  const country = countries.find(({ code }) => code === cart.country.value)
  const amount = parseMoney(cart.amount.value || '0', currency)
  const grams = /^\d{1,13}$/.test(cart.grams.value.trim()) ? Number(cart.grams.value) : undefined
  const to = { countryCode: cart.country.value, province: cart.province.value.trim() || null }
  const offers = amount && grams !== undefined ? offersFor(methods, { grams, amount, to }, table) : []
  const offeredMethods = offers.filter(({ price }) => price)
  return (
    <Section title={t('preview')} hint={t('previewHint')}>
      <div class="fields">
        <SelectField bind={cart.country} label={common('address.countryCode')} options={countryOptions()} />
        <TextField
          bind={cart.province}
          label={common('region')}
          suggestions={country?.provinces.map((province) => province.name) ?? []}
          max={100}
        />
        <NumberField bind={cart.grams} label={t('grams')} error={grams === undefined ? common('notNumber') : undefined} />
        <MoneyField
          bind={cart.amount}
          currency={currency}
          label={t('worth')}
          error={amount ? undefined : invalidAmountText(currency)}
          placeholder="0"
        />
      </div>
      <div role="status">
        {amount && grams !== undefined && offeredMethods.length === 0 && <Note tone="warn">{t('nothingOffered')}</Note>}
      </div>
      {offers.length > 0 && (
        <Table
          caption={t('previewTable')}
          columns={[
            { title: common('name'), main: true, cell: ({ method }) => <bdi>{method.title}</bdi> },
            {
              title: t('amount'),
              alignEnd: true,
              cell: ({ price, reason }) => (price ? <Money amount={price} /> : <span class="faint">{reason && t(reason)}</span>),
            },
          ]}
          rows={offers}
          rowKey={({ method }) => method.code}
        />
      )}
    </Section>
  )
}
