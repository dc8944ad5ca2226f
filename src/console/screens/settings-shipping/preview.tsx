import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { noProvinces } from '../../../lib/provinces.ts'
import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'
import { common, notAmount } from '../../lib/i18n/common.ts'
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
  const typed = useMemo(
    () => ({ country: signal(shop.value?.country ?? 'US'), province: signal(''), grams: signal('500'), amount: signal('') }),
    [],
  )
  // A suspended shop serves no countries, so provinces match by spelling and local names.
  const served = useResource(name, async (signal) => {
    const [{ data }, { localProvinceNames }] = await Promise.all([
      ok(api.GET('/shops/v2/public/name/{shopName}/countries', { params: { path: { shopName: name } }, signal })).catch(() => ({
        data: [],
      })),
      import('../../../lib/province-names.ts'),
    ])
    return { countries: data, table: provincesOfCountries(data, localProvinceNames()) }
  })
  const { countries, table } = served.data.value ?? { countries: [], table: noProvinces }
  const here = countries.find(({ code }) => code === typed.country.value)
  const amount = parseMoney(typed.amount.value || '0', currency)
  const grams = /^\d{1,13}$/.test(typed.grams.value.trim()) ? Number(typed.grams.value) : undefined
  const to = { countryCode: typed.country.value, province: typed.province.value.trim() || null }
  const seen = amount && grams !== undefined ? offersFor(methods, { grams, amount, to }, table) : []
  const offered = seen.filter(({ price }) => price)
  return (
    <Section title={t('preview')} hint={t('previewHint')}>
      <div class="fields">
        <SelectField bind={typed.country} label={common('address.countryCode')} options={countryOptions()} />
        <TextField bind={typed.province} label={common('region')} suggestions={here?.provinces.map((one) => one.name) ?? []} max={100} />
        <NumberField bind={typed.grams} label={t('grams')} error={grams === undefined ? common('notNumber') : undefined} />
        <MoneyField
          bind={typed.amount}
          currency={currency}
          label={t('worth')}
          error={amount ? undefined : notAmount(currency)}
          placeholder="0"
        />
      </div>
      <div role="status">{amount && grams !== undefined && offered.length === 0 && <Note tone="warn">{t('nothingOffered')}</Note>}</div>
      {seen.length > 0 && (
        <Table
          caption={t('previewTable')}
          columns={[
            { title: common('name'), main: true, cell: ({ method }) => <bdi>{method.title}</bdi> },
            {
              title: t('amount'),
              end: true,
              cell: ({ price, because }) => (price ? <Money of={price} /> : <span class="faint">{because && t(because)}</span>),
            },
          ]}
          rows={seen}
          rowKey={({ method }) => method.code}
        />
      )}
    </Section>
  )
}
