import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { countryOptions } from '../../lib/format/locale-lists.ts'
import { countryName } from '../../lib/format/names.ts'
import { draftOf, textsOf } from '../../lib/forms/draft.ts'
import { parsePercent } from '../../lib/forms/percent.ts'
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
import { type Rows, saveRows } from '../settings/rows.ts'
import { t } from './i18n.ts'
import { duplicateOf, newRate, placeOf, type Rate, rateOf, textsOfRate, withRate } from './rates.domain.ts'

type Held = Rows<Rate>
type Change = (rates: readonly Rate[]) => readonly Rate[]

/** Whose they are, whichever shop is shown by the time it is sent. */
const read = (shopId = shop.value?.id, signal?: AbortSignal): Promise<Held> =>
  readVersioned<{ data: Rate[] }>(api.GET('/shops/v2/tax-rates', { params: { header: shopHeader(shopId) }, ...(signal && { signal }) }))
const put = (shopId: string | undefined, data: Rate[], etag: string | undefined): Promise<Held> =>
  readVersioned<{ data: Rate[] }>(
    api.PUT('/shops/v2/tax-rates', { params: { header: { ...shopHeader(shopId), ...ifMatch(etag) } }, body: { data } }),
  )

const nameOf = ({ country: code, region, class: taxClass }: Rate): string =>
  [countryName(code), region ?? t('whole'), ...(taxClass ? [t('ofClass', { class: taxClass })] : [])].join(', ')
const described = (rate: Rate | undefined): string =>
  rate ? `${percentOfBps(rate.rateBps)}, ${t(rate.inclusive ? 'inclusive' : 'onTop')}` : '–'

function differences(mine: readonly Rate[], theirs: readonly Rate[]): readonly (readonly [string, string, string])[] {
  const all = new Map([...theirs, ...mine].map((rate) => [placeOf(rate), rate]))
  const of = (list: readonly Rate[], place: string) => described(list.find((one) => placeOf(one) === place))
  return [...all].flatMap(([place, rate]) => {
    const [yours, there] = [of(mine, place), of(theirs, place)]
    return yours === there ? [] : [[nameOf(rate), yours, there] as const]
  })
}

/**
 * Saves a change of the list, and shows what there is then.
 * @param shopId of the shop whose list it is
 * @param onTheirs of one who looks at what somebody else has saved, once that is shown
 * @returns whether it was saved
 */
async function save(
  held: Held,
  resource: Resource<Held>,
  change: Change,
  { shopId = shop.value?.id, onTheirs = () => undefined }: { shopId?: string | undefined; onTheirs?: () => void } = {},
): Promise<boolean> {
  const saved = await saveRows(held, {
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
      title={isOne ? t(place === undefined ? 'newRate' : 'rate') : t('title')}
      subtitle={isOne ? undefined : t('subtitle')}
      {...(isOne ? { back: { href: shopPath('settings', 'taxes'), text: t('title') } } : {})}
      actions={
        !isOne && (
          <ButtonLink kind="primary" icon="plus" href={query.href({ new: '1' })}>
            {t('add')}
          </ButtonLink>
        )
      }
    >
      <ResourceView of={rates}>
        {(held) => (isOne ? <One key={place ?? ''} place={place} held={held} resource={rates} /> : <All held={held} resource={rates} />)}
      </ResourceView>
    </Page>
  )
}

function All({ held, resource }: { held: Held; resource: Resource<Held> }) {
  const query = useQuery()
  const rates = held.data.data
  async function remove(rate: Rate): Promise<void> {
    const place = placeOf(rate)
    const shopId = shop.value?.id
    if (!(await save(held, resource, (list) => list.filter((one) => placeOf(one) !== place)))) return
    notify(t('removed', { name: nameOf(rate) }), {
      undo: async () => {
        // By then there may be others: it is added to what is there.
        await save(await read(shopId), resource, (list) => withRate(list, place, rate), { shopId })
      },
    })
  }
  if (rates.length === 0) return <EmptyState icon="chart" title={t('none')} text={t('noneText')} />
  return (
    <>
      <Table
        caption={t('title')}
        columns={[
          { key: 'country', title: t('country'), main: true, cell: (rate) => countryName(rate.country) },
          { key: 'region', title: t('region'), cell: ({ region }) => <bdi>{region ?? t('whole')}</bdi> },
          { key: 'class', title: t('class'), cell: (rate) => rate.class ?? t('standard') },
          { key: 'rate', title: t('rate'), end: true, cell: ({ rateBps }) => percentOfBps(rateBps) },
          { key: 'inclusive', title: t('prices'), cell: ({ inclusive }) => t(inclusive ? 'inclusive' : 'onTop') },
          {
            key: 'remove',
            title: common('actions'),
            cell: (rate) => (
              <Button kind="quiet" icon="close" label={`${common('remove')}: ${nameOf(rate)}`} onPress={() => remove(rate)} />
            ),
          },
        ]}
        rows={rates}
        rowKey={placeOf}
        href={(rate) => query.href({ rate: placeOf(rate) })}
      />
      <Note>{t('rules')}</Note>
    </>
  )
}

function One({ place, held, resource }: { place: string | undefined; held: Held; resource: Resource<Held> }) {
  const { route } = useLocation()
  const [tried, setTried] = useState(false)
  const rate = held.data.data.find((one) => placeOf(one) === place)
  const begun = useMemo(() => (rate ? textsOfRate(rate) : { ...newRate, country: shop.value?.country ?? '' }), [])
  const draft = useMemo(() => draftOf(begun), [])
  const typed = textsOf(draft)
  const back = shopPath('settings', 'taxes')
  if (place !== undefined && !rate) return <EmptyState title={common('missing')} text={common('missingText')} />
  const made = rateOf(typed)
  const twice = made && duplicateOf(held.data.data, made, place)

  async function submit(): Promise<void> {
    setTried(true)
    if (!made) throw new Error(`${t('rate')}: ${common('notPercent')}`)
    if (twice) throw new Error(t('duplicate', { name: nameOf(twice), rate: described(twice) }))
    if (!(await save(held, resource, (list) => withRate(list, place, made), { onTheirs: () => route(back) }))) return
    notify(common('saved'))
    route(back)
  }
  return (
    <Section>
      <Form onSubmit={submit} dirty={JSON.stringify(typed) !== JSON.stringify(begun)} label={t('rate')}>
        <div class="fields">
          <SelectField bind={draft.country} label={t('country')} options={countryOptions()} />
          <TextField bind={draft.region} label={t('region')} hint={t('regionHint')} max={100} />
          <TextField
            bind={draft.rate}
            label={t('percent')}
            inputMode="decimal"
            error={(tried || typed.rate !== '') && parsePercent(typed.rate) === undefined ? common('notPercent') : undefined}
            required
            code
          />
          <TextField bind={draft.class} label={t('class')} hint={t('classHint')} max={40} code />
        </div>
        <CheckField bind={draft.inclusive} label={t('isInclusive')} hint={t('inclusiveHint')} />
        {twice && <Note tone="warn">{t('duplicate', { name: nameOf(twice), rate: described(twice) })}</Note>}
      </Form>
    </Section>
  )
}
