import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopHeader, shopPath } from '../../lib/session/current-shop.ts'
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
    save: (version: string | undefined): Promise<Versioned<Card>> =>
      sendOnce([change, version], async (header) => {
        const params = { path: { id }, header: { ...shopOfCard, ...header, ...ifMatch(version) } }
        const { data, etag } = await readVersioned(api.PATCH('/giftcard/{id}', { params, body: change }))
        // The response lacks the transactions.
        return { data: { ...card.data.value?.data, ...data } as Card, etag }
      }),
    differences: (theirs: Card) => differences(change, theirs),
  })
  /** Saves the status. A changed note is no conflict. */
  async function saveStatus({ data, etag }: Versioned<Card>, status: Card['status']): Promise<boolean> {
    const isSame = (theirs: Card) => theirs.status === data.status
    const saved = await saveRecord(card, etag, { ...saveOptions({ status }), isSame })
    if (saved) await card.reload()
    return saved !== undefined
  }
  async function setStatus(version: Versioned<Card>, status: Card['status']) {
    const isConfirmed =
      status === 'ACTIVE' ||
      (await confirm({ title: t('disableTitle'), body: <p>{t('disableText')}</p>, action: t('disable'), danger: true }))
    if (!isConfirmed || !(await saveStatus(version, status))) return
    const previousStatus = status === 'ACTIVE' ? 'DISABLED' : 'ACTIVE'
    notify(t(status === 'ACTIVE' ? 'enabled' : 'disabled'), { undo: () => card.data.value && saveStatus(card.data.value, previousStatus) })
  }
  return (
    <Page
      title={current ? common('giftCardNamed', { last4: current.data.last4 }) : common('card')}
      back={{ href: shopPath('gift-cards'), text: common('giftCards') }}
      subtitle={current && <CardStateBadge card={current.data} />}
      actions={
        current &&
        canManage.value &&
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
      <ResourceView resource={card}>
        {({ data, etag }) => (
          <div class="columns">
            <Section title={t('moves')}>
              {data.transactionsCapped && <Note>{t('movesCapped', { n: data.transactions.length })}</Note>}
              <Table caption={t('movesList')} rows={data.transactions} rowKey={({ id: move }) => move} columns={transactionColumns()} />
            </Section>
            <div class="stack">
              <Section title={t('facts')}>
                <FactList
                  facts={[
                    [common('moneyLeft'), <Money key="balance" amount={data.balance} />],
                    [t('initial'), <Money key="initial" amount={data.initialAmount} />],
                    [common('expires'), data.expiresAt ? <Moment at={data.expiresAt} /> : common('never')],
                    [t('for'), data.customerId ? <a href={shopPath('customers', data.customerId)}>{t('toCustomer')}</a> : t('anybody')],
                    ...(data.orderId ? [[t('soldBy'), <a href={shopPath('orders', data.orderId)}>{t('toOrder')}</a>] as const] : []),
                    [t('issued'), <Moment key="issued" at={data.createdAt} />],
                  ]}
                />
                <p class="hint">{t('neverAgain')}</p>
              </Section>
              {canManage.value && <EditForm current={{ data, etag }} card={card} saveOptions={saveOptions} />}
            </div>
          </div>
        )}
      </ResourceView>
      {current && canManage.value && query.values['replace'] && (
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

const transactionColumns = () =>
  [
    { title: common('when'), main: true, cell: ({ at: time }: Card['transactions'][number]) => <Moment at={time} /> },
    { title: t('what'), cell: ({ kind }: Card['transactions'][number]) => t(`kind.${kind}`) },
    {
      title: common('order'),
      cell: ({ orderId }: Card['transactions'][number]) => orderId && <a href={shopPath('orders', orderId)}>{t('toOrder')}</a>,
    },
    { title: common('amount'), alignEnd: true, cell: ({ amount }: Card['transactions'][number]) => <Money amount={amount} /> },
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
  current,
  card,
  saveOptions,
}: {
  current: Versioned<Card>
  card: Resource<Versioned<Card>>
  saveOptions: (change: Change) => Parameters<RecordEditor<Card, CardText>['save']>[0]
}) {
  const zone = timeZone()
  const editor = useRecordEditor(
    card,
    current,
    ({ note, expiresAt }): CardText => ({ note: note ?? '', expiresAt: wallTimeText(expiresAt, zone) }),
  )
  async function submit() {
    const input = editor.values()
    const before = editor.base().data.expiresAt
    const expiresAt = parseChangedWallTime(input.expiresAt, before, zone)
    if (expiresAt === undefined) throw new Error(t('notMoment'))
    const saved = await editor.save(saveOptions({ note: input.note.trim() || null, ...(expiresAt !== before && { expiresAt }) }))
    if (!saved) return
    await card.reload()
    notify(common('saved'))
  }
  return (
    <Section title={common('edit')}>
      <Form onSubmit={submit} dirty={editor.isDirty} label={common('edit')} isEditableWhileSending>
        <TextField bind={editor.fields.expiresAt} label={common('expires')} type="datetime-local" hint={t('expiresHint', { zone })} />
        <TextAreaField bind={editor.fields.note} label={common('note')} hint={t('noteHint')} max={500} rows={3} />
      </Form>
    </Section>
  )
}
