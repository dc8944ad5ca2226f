import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { mayManage, shopHeader, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { saveRecord } from '../../ui/save-versioned.tsx'
import { Table } from '../../ui/table.tsx'
import { type RecordEditor, useRecordEditor } from '../../ui/use-record-editor.ts'
import { isReplaceable } from './card.domain.ts'
import { t } from './i18n.ts'
import { IssueDialog } from './issue.tsx'
import { CardStateBadge } from './list.tsx'

type Card = Schema<'GiftCardWithTransactions'>
type VersionedCard = { data: Card; etag: string }
type Change = { status?: Card['status']; note?: string | null; expiresAt?: string | null }

export default function GiftCard() {
  const id = useRoute().params['id'] ?? ''
  const query = useQuery()
  const card = useResource(id, (signal) => readVersioned(api.GET('/giftcard/{id}', { params: { path: { id } }, signal })))
  const sendOnce = useIdempotentSend()
  const [shopOfCard] = useState(shopHeader)
  useLiveReload(['order.*'], card.reload)
  const current = card.data.value

  const saveOptions = (change: Change) => ({
    save: (version: string | undefined): Promise<VersionedCard> =>
      sendOnce([change, version], async (header) => {
        const params = { path: { id }, header: { ...shopOfCard, ...header, ...ifMatch(version) } }
        const { data, etag } = await readVersioned(api.PATCH('/giftcard/{id}', { params, body: change }))
        // The response lacks the transactions.
        return { data: { ...card.data.value?.data, ...data } as Card, etag }
      }),
    differences: (theirs: Card) => differences(change, theirs),
  })
  /** Saves the status. A changed note is no conflict. */
  async function saveStatus({ data, etag }: VersionedCard, status: Card['status']): Promise<boolean> {
    const isSame = (theirs: Card) => theirs.status === data.status
    const saved = await saveRecord(card, etag, { ...saveOptions({ status }), isSame })
    if (saved) await card.reload()
    return saved !== undefined
  }
  async function setStatus(shown: VersionedCard, status: Card['status']) {
    const sure =
      status === 'ACTIVE' ||
      (await confirm({ title: t('disableTitle'), body: <p>{t('disableText')}</p>, action: t('disable'), danger: true }))
    if (!sure || !(await saveStatus(shown, status))) return
    const back = status === 'ACTIVE' ? 'DISABLED' : 'ACTIVE'
    notify(t(status === 'ACTIVE' ? 'enabled' : 'disabled'), { undo: () => card.data.value && saveStatus(card.data.value, back) })
  }
  return (
    <Page
      title={current ? common('giftCardNamed', { last4: current.data.last4 }) : common('card')}
      back={{ href: shopPath('gift-cards'), text: common('giftCards') }}
      subtitle={current && <CardStateBadge of={current.data} />}
      actions={
        current &&
        mayManage.value &&
        (current.data.status === 'ACTIVE' ? (
          <Button kind="danger" onPress={() => setStatus(current, 'DISABLED')} text={t('disable')} />
        ) : (
          <>
            {isReplaceable(current.data) && <ButtonLink href={query.href({ replace: '1' })} text={t('replace')} />}
            <Button onPress={() => setStatus(current, 'ACTIVE')} text={t('enable')} />
          </>
        ))
      }
    >
      <ResourceView of={card}>
        {({ data, etag }) => (
          <div class="columns">
            <Section title={t('moves')}>
              {data.transactionsCapped && <Note>{t('movesCapped', { n: data.transactions.length })}</Note>}
              <Table caption={t('movesList')} rows={data.transactions} rowKey={({ id: move }) => move} columns={moveColumns()} />
            </Section>
            <div class="stack">
              <Section title={t('facts')}>
                <FactList
                  of={[
                    [common('moneyLeft'), <Money key="balance" of={data.balance} />],
                    [t('initial'), <Money key="initial" of={data.initialAmount} />],
                    [common('expires'), data.expiresAt ? <Moment at={data.expiresAt} /> : common('never')],
                    [t('for'), data.customerId ? <a href={shopPath('customers', data.customerId)}>{t('toCustomer')}</a> : t('anybody')],
                    ...(data.orderId ? [[t('soldBy'), <a href={shopPath('orders', data.orderId)}>{t('toOrder')}</a>] as const] : []),
                    [t('issued'), <Moment key="issued" at={data.createdAt} />],
                  ]}
                />
                <p class="hint">{t('neverAgain')}</p>
              </Section>
              {mayManage.value && <EditForm of={{ data, etag }} card={card} saveOptions={saveOptions} />}
            </div>
          </div>
        )}
      </ResourceView>
      {current && mayManage.value && query.of['replace'] && (
        <IssueDialog
          customerId={current.data.customerId ?? undefined}
          replaced={current.data}
          onIssued={() => undefined}
          onClose={() => query.set({ replace: undefined }, { replace: true })}
        />
      )}
    </Page>
  )
}

const moveColumns = () =>
  [
    { title: common('when'), main: true, cell: ({ at: when }: Card['transactions'][number]) => <Moment at={when} /> },
    { title: t('what'), cell: ({ kind }: Card['transactions'][number]) => t(`kind.${kind}`) },
    {
      title: common('order'),
      cell: ({ orderId }: Card['transactions'][number]) => orderId && <a href={shopPath('orders', orderId)}>{t('toOrder')}</a>,
    },
    { title: common('amount'), end: true, cell: ({ amount }: Card['transactions'][number]) => <Money of={amount} /> },
  ] as const

const expiryText = (iso: string | null | undefined) => (iso ? moment(iso) : common('never'))

const differences = ({ status, note, expiresAt }: Change, theirs: Card): readonly (readonly [string, string, string])[] => {
  const rows: (readonly [string, string, string])[] = []
  if (status !== undefined && status !== theirs.status) rows.push([common('status'), t(`is.${status}`), t(`is.${theirs.status}`)])
  if (note !== undefined && note !== theirs.note) rows.push([common('note'), note ?? '–', theirs.note ?? '–'])
  if (expiresAt !== undefined && expiresAt !== theirs.expiresAt)
    rows.push([common('expires'), expiryText(expiresAt), expiryText(theirs.expiresAt)])
  return rows
}

type CardText = { note: string; expiresAt: string }

function EditForm({
  of,
  card,
  saveOptions,
}: {
  of: VersionedCard
  card: Resource<VersionedCard>
  saveOptions: (change: Change) => Parameters<RecordEditor<Card, CardText>['save']>[0]
}) {
  const zone = timeZone()
  const editor = useRecordEditor(
    card,
    of,
    ({ note, expiresAt }): CardText => ({ note: note ?? '', expiresAt: wallTimeText(expiresAt, zone) }),
  )
  async function submit() {
    const typed = editor.now()
    const before = editor.base().data.expiresAt
    const expiresAt = parseChangedWallTime(typed.expiresAt, before, zone)
    if (expiresAt === undefined) throw new Error(t('notMoment'))
    const saved = await editor.save(saveOptions({ note: typed.note.trim() || null, ...(expiresAt !== before && { expiresAt }) }))
    if (!saved) return
    await card.reload()
    notify(common('saved'))
  }
  return (
    <Section title={common('edit')}>
      <Form onSubmit={submit} dirty={editor.dirty} label={common('edit')} keepsTyping>
        <TextField bind={editor.of.expiresAt} label={common('expires')} type="datetime-local" hint={t('expiresHint', { zone })} />
        <TextAreaField bind={editor.of.note} label={common('note')} hint={t('noteHint')} max={500} rows={3} />
      </Form>
    </Section>
  )
}
