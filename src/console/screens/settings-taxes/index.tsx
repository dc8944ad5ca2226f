import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { countryName } from '../../lib/format/names.ts'
import { createDraft, draftValues } from '../../lib/forms/draft.ts'
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
  const describe = (list: readonly Rate[], key: string) => describeRate(list.find((rate) => rateKey(rate) === key))
  return [...all].flatMap(([key, rate]) => {
    const [yours, theirText] = [describe(mine, key), describe(theirs, key)]
    return yours === theirText ? [] : [[rateName(rate), yours, theirText] as const]
  })
}

/**
 * Saves a change of the list and shows the result.
 * @param shopId the list's shop
 * @param onViewCurrent called after the other version is shown
 * @returns whether it was saved
 */
async function save(
  current: VersionedRates,
  resource: Resource<VersionedRates>,
  change: RatesChange,
  { shopId = shop.value?.id, onViewCurrent = () => undefined }: { shopId?: string | undefined; onViewCurrent?: () => void } = {},
): Promise<boolean> {
  const saved = await saveRows(current, {
    change,
    put: (rows, version) => put(shopId, rows, version),
    read: () => read(shopId),
    onViewCurrent(now) {
      resource.put(now)
      onViewCurrent()
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
  const { rate: key, new: isNew } = query.values
  const isEditing = key !== undefined || isNew !== undefined
  return (
    <Page
      title={isEditing ? t(key === undefined ? 'add' : 'rate') : common('taxes')}
      subtitle={isEditing ? undefined : t('subtitle')}
      {...(isEditing ? { back: { href: shopPath('settings', 'taxes'), text: common('taxes') } } : {})}
      actions={!isEditing && <ButtonLink kind="primary" icon="plus" href={query.href({ new: '1' })} text={t('add')} />}
    >
      <ResourceView resource={rates}>
        {(current) =>
          isEditing ? (
            <EditRate key={key ?? ''} rateId={key} current={current} resource={rates} />
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
    const key = rateKey(rate)
    const shopId = shop.value?.id
    if (!(await save(current, resource, (list) => list.filter((rate) => rateKey(rate) !== key)))) return
    notify(t('removed', { name: rateName(rate) }), {
      undo: async () => {
        // Adds the rate to the present list.
        await save(await read(shopId), resource, (list) => replaceRate(list, key, rate), { shopId })
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
          { title: t('rate'), alignEnd: true, cell: ({ rateBps }) => percentOfBps(rateBps) },
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
  rateId,
  current,
  resource,
}: {
  rateId: string | undefined
  current: VersionedRates
  resource: Resource<VersionedRates>
}) {
  const { route } = useLocation()
  const [wasSubmitted, setSubmitted] = useState(false)
  const rate = current.data.data.find((rate) => rateKey(rate) === rateId)
  const initial = useMemo(() => (rate ? textsOfRate(rate) : { ...newRate, country: shop.value?.country ?? '' }), [])
  const draft = useMemo(() => createDraft(initial), [])
  const input = draftValues(draft)
  const taxesPath = shopPath('settings', 'taxes')
  if (rateId !== undefined && !rate) return <EmptyState title={common('missing')} text={common('missingText')} />
  const newRateValue = parseRate(input)
  const duplicate = newRateValue && findDuplicate(current.data.data, newRateValue, rateId)

  async function submit(): Promise<void> {
    setSubmitted(true)
    if (!newRateValue) throw new Error(`${t('rate')}: ${t('notRate')}`)
    if (duplicate) throw new Error(t('duplicate', { name: rateName(duplicate), rate: describeRate(duplicate) }))
    if (!(await save(current, resource, (list) => replaceRate(list, rateId, newRateValue), { onViewCurrent: () => route(taxesPath) })))
      return
    notify(common('saved'))
    route(taxesPath)
  }
  return (
    <Section>
      <Form onSubmit={submit} dirty={JSON.stringify(input) !== JSON.stringify(initial)} label={t('rate')}>
        <div class="fields">
          <SelectField bind={draft.country} label={common('address.countryCode')} options={countryOptions()} />
          <TextField bind={draft.region} label={common('region')} hint={t('regionHint')} max={100} />
          <TextField
            bind={draft.rate}
            label={t('percent')}
            inputMode="decimal"
            error={(wasSubmitted || input.rate !== '') && parseRatePercent(input.rate) === undefined ? t('notRate') : undefined}
            required
            code
          />
          <TextField bind={draft.class} label={t('class')} hint={t('classHint')} max={40} code />
        </div>
        <CheckField bind={draft.inclusive} label={t('isInclusive')} hint={t('inclusiveHint')} />
        <CheckField bind={draft.shipping} label={t('isForShipping')} hint={t('shippingHint')} />
        {duplicate && <Note tone="warn">{t('duplicate', { name: rateName(duplicate), rate: describeRate(duplicate) })}</Note>}
      </Form>
    </Section>
  )
}
