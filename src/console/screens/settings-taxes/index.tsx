import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { countryName } from '../../lib/format/names.ts'
import { draftOf, textsOf } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shop, shopHeader, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CheckField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { saveRows, type VersionedRows } from '../settings/rows.ts'
import { t } from './i18n.ts'
import { findDuplicate, newRate, parseRate, parseRatePercent, type Rate, rateKey, replaceRate, textsOfRate } from './rates.domain.ts'

type VersionedRates = VersionedRows<Rate>
type RatesChange = (rates: readonly Rate[]) => readonly Rate[]

/** The shop is fixed, because another one can be shown when it is sent. */
const read = (shopId = shop.value?.id, signal?: AbortSignal): Promise<VersionedRates> =>
  readVersioned<{ data: Rate[] }>(api.GET('/shops/v2/tax-rates', { params: { header: shopHeader(shopId) }, ...(signal && { signal }) }))
const put = (shopId: string | undefined, data: Rate[], etag: string | undefined): Promise<VersionedRates> =>
  readVersioned<{ data: Rate[] }>(
    api.PUT('/shops/v2/tax-rates', { params: { header: { ...shopHeader(shopId), ...ifMatch(etag) } }, body: { data } }),
  )

const rateName = ({ country: code, region, class: taxClass }: Rate): string =>
  [countryName(code), region ?? t('whole'), ...(taxClass ? [t('ofClass', { class: taxClass })] : [])].join(', ')
const calculationOf = ({ inclusive, shipping }: Rate): readonly string[] => [
  t(inclusive ? 'inclusive' : 'onTop'),
  ...(shipping ? [t('alsoShipping')] : []),
]
const describeRate = (rate: Rate | undefined): string => (rate ? [percentOfBps(rate.rateBps), ...calculationOf(rate)].join(', ') : '–')

function differences(mine: readonly Rate[], theirs: readonly Rate[]): readonly (readonly [string, string, string])[] {
  const all = new Map([...theirs, ...mine].map((rate) => [rateKey(rate), rate]))
  const of = (list: readonly Rate[], place: string) => describeRate(list.find((one) => rateKey(one) === place))
  return [...all].flatMap(([place, rate]) => {
    const [yours, there] = [of(mine, place), of(theirs, place)]
    return yours === there ? [] : [[rateName(rate), yours, there] as const]
  })
}

/**
 * Saves a change of the list and shows the result.
 * @param shopId the list's shop
 * @param onTheirs called after the other version is shown
 * @returns whether it was saved
 */
async function save(
  current: VersionedRates,
  resource: Resource<VersionedRates>,
  change: RatesChange,
  { shopId = shop.value?.id, onTheirs = () => undefined }: { shopId?: string | undefined; onTheirs?: () => void } = {},
): Promise<boolean> {
  const saved = await saveRows(current, {
    change,
    put: (rows, version) => put(shopId, rows, version),
    read: () => read(shopId),
    onTheirs(now) {
      resource.put(now)
      onTheirs()
    },
    differences: (theirs) => differences(change(theirs), theirs),
    isDone: (theirs) => differences(change(theirs), theirs).length === 0,
  })
  if (saved) resource.put(saved)
  return saved !== undefined
}

export default function Taxes() {
  const query = useQuery()
  const rates = useResource('', (signal) => read(shop.value?.id, signal))
  const { rate: place, new: isNew } = query.of
  const isOne = place !== undefined || isNew !== undefined
  return (
    <Page
      title={isOne ? t(place === undefined ? 'add' : 'rate') : common('taxes')}
      subtitle={isOne ? undefined : t('subtitle')}
      {...(isOne ? { back: { href: shopPath('settings', 'taxes'), text: common('taxes') } } : {})}
      actions={!isOne && <ButtonLink kind="primary" icon="plus" href={query.href({ new: '1' })} text={t('add')} />}
    >
      <ResourceView of={rates}>
        {(current) =>
          isOne ? (
            <EditRate key={place ?? ''} place={place} current={current} resource={rates} />
          ) : (
            <RateList current={current} resource={rates} />
          )
        }
      </ResourceView>
    </Page>
  )
}

function RateList({ current, resource }: { current: VersionedRates; resource: Resource<VersionedRates> }) {
  const query = useQuery()
  const rates = current.data.data
  async function remove(rate: Rate): Promise<void> {
    const place = rateKey(rate)
    const shopId = shop.value?.id
    if (!(await save(current, resource, (list) => list.filter((one) => rateKey(one) !== place)))) return
    notify(t('removed', { name: rateName(rate) }), {
      undo: async () => {
        // Adds the rate to the present list.
        await save(await read(shopId), resource, (list) => replaceRate(list, place, rate), { shopId })
      },
    })
  }
  if (rates.length === 0) return <EmptyState icon="chart" title={t('none')} text={t('noneText')} />
  return (
    <>
      <Table
        caption={common('taxes')}
        columns={[
          { title: common('address.countryCode'), main: true, cell: (rate) => countryName(rate.country) },
          { title: common('region'), cell: ({ region }) => <bdi>{region ?? t('whole')}</bdi> },
          { title: t('class'), cell: (rate) => rate.class ?? t('standard') },
          { title: t('rate'), end: true, cell: ({ rateBps }) => percentOfBps(rateBps) },
          { title: t('prices'), cell: (rate) => calculationOf(rate).join(', ') },
          {
            title: common('actions'),
            cell: (rate) => (
              <Button kind="quiet" icon="close" label={`${common('remove')}: ${rateName(rate)}`} onPress={() => remove(rate)} />
            ),
          },
        ]}
        rows={rates}
        rowKey={rateKey}
        href={(rate) => query.href({ rate: rateKey(rate) })}
      />
      <Note>{t('rules')}</Note>
    </>
  )
}

function EditRate({
  place,
  current,
  resource,
}: {
  place: string | undefined
  current: VersionedRates
  resource: Resource<VersionedRates>
}) {
  const { route } = useLocation()
  const [tried, setTried] = useState(false)
  const rate = current.data.data.find((one) => rateKey(one) === place)
  const begun = useMemo(() => (rate ? textsOfRate(rate) : { ...newRate, country: shop.value?.country ?? '' }), [])
  const draft = useMemo(() => draftOf(begun), [])
  const typed = textsOf(draft)
  const back = shopPath('settings', 'taxes')
  if (place !== undefined && !rate) return <EmptyState title={common('missing')} text={common('missingText')} />
  const made = parseRate(typed)
  const twice = made && findDuplicate(current.data.data, made, place)

  async function submit(): Promise<void> {
    setTried(true)
    if (!made) throw new Error(`${t('rate')}: ${t('notRate')}`)
    if (twice) throw new Error(t('duplicate', { name: rateName(twice), rate: describeRate(twice) }))
    if (!(await save(current, resource, (list) => replaceRate(list, place, made), { onTheirs: () => route(back) }))) return
    notify(common('saved'))
    route(back)
  }
  return (
    <Section>
      <Form onSubmit={submit} dirty={JSON.stringify(typed) !== JSON.stringify(begun)} label={t('rate')}>
        <div class="fields">
          <SelectField bind={draft.country} label={common('address.countryCode')} options={countryOptions()} />
          <TextField bind={draft.region} label={common('region')} hint={t('regionHint')} max={100} />
          <TextField
            bind={draft.rate}
            label={t('percent')}
            inputMode="decimal"
            error={(tried || typed.rate !== '') && parseRatePercent(typed.rate) === undefined ? t('notRate') : undefined}
            required
            code
          />
          <TextField bind={draft.class} label={t('class')} hint={t('classHint')} max={40} code />
        </div>
        <CheckField bind={draft.inclusive} label={t('isInclusive')} hint={t('inclusiveHint')} />
        <CheckField bind={draft.shipping} label={t('isForShipping')} hint={t('shippingHint')} />
        {twice && <Note tone="warn">{t('duplicate', { name: rateName(twice), rate: describeRate(twice) })}</Note>}
      </Form>
    </Section>
  )
}
