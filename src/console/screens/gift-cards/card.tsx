import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { parseChangedWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'
import { type RecordDraft, useRecordDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { mayManage, shopHeader, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { CardStateBadge } from './list.tsx'

type Card = Schema<'GiftCardWithTransactions'>
type VersionedCard = { data: Card; etag: string }
type Change = { status?: Card['status']; note?: string | null; expiresAt?: string | null }

export default function GiftCard() {
  const id = useRoute().params['id'] ?? ''
  const read = (signal?: AbortSignal): Promise<VersionedCard> =>
    readVersioned(api.GET('/giftcard/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<VersionedCard>
  const card = useResource(id, read)
  const sendOnce = useIdempotentSend()
  const [header] = useState(shopHeader)
  useLiveReload(['order.*'], card.reload)
  const held = card.data.value

  /**
   * Saves a change and shows the result; false if the other version was viewed instead. Status and note never
   * conflict with each other.
   */
  async function save(begun: VersionedCard, change: Change, draft?: EditDraft): Promise<boolean> {
    const sent = draft?.now()
    const show = (now: VersionedCard) => {
      draft?.take(now)
      card.put(now)
    }
    const saved = await saveVersioned(begun.etag, {
      save: (version) =>
        sendOnce([change, version], (key) =>
          readVersioned(
            api.PATCH('/giftcard/{id}', {
              params: { path: { id }, header: { ...header, 'idempotency-key': key, ...ifMatch(version) } },
              body: change,
            }),
          ),
        ),
      theirs: () => read(),
      differences: (theirs) => differences(change, theirs),
      onTheirs: show,
      isSame: (theirs) => (draft ? draft.isSame(theirs) : theirs.status === begun.data.status),
    })
    if (!saved) return false
    // The response lacks the transactions.
    const now = { data: { ...(card.data.value ?? begun).data, ...saved.data }, etag: saved.etag }
    if (sent) draft?.saved(now, sent)
    card.put(now)
    await card.reload()
    return true
  }
  async function setStatus(shown: VersionedCard, status: Card['status']) {
    const sure =
      status === 'ACTIVE' ||
      (await confirm({ title: t('disableTitle'), body: <p>{t('disableText')}</p>, action: t('disable'), danger: true }))
    if (!sure || !(await save(shown, { status }))) return
    const back = status === 'ACTIVE' ? 'DISABLED' : 'ACTIVE'
    notify(t(status === 'ACTIVE' ? 'enabled' : 'disabled'), {
      undo: () => card.data.value && save(card.data.value, { status: back }),
    })
  }
  return (
    <Page
      title={held ? t('cardNamed', { last4: held.data.last4 }) : t('card')}
      back={{ href: shopPath('gift-cards'), text: t('title') }}
      subtitle={held && <CardStateBadge of={held.data} />}
      actions={
        held &&
        mayManage.value &&
        (held.data.status === 'ACTIVE' ? (
          <Button kind="danger" onPress={() => setStatus(held, 'DISABLED')}>
            {t('disable')}
          </Button>
        ) : (
          <Button onPress={() => setStatus(held, 'ACTIVE')}>{t('enable')}</Button>
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
                    [t('balance'), <Money key="balance" of={data.balance} />],
                    [t('initial'), <Money key="initial" of={data.initialAmount} />],
                    [t('expires'), data.expiresAt ? <Moment at={data.expiresAt} /> : t('never')],
                    [t('for'), data.customerId ? <a href={shopPath('customers', data.customerId)}>{t('toCustomer')}</a> : t('anybody')],
                    [t('issued'), <Moment key="issued" at={data.createdAt} />],
                  ]}
                />
                <p class="hint">{t('neverAgain')}</p>
              </Section>
              {mayManage.value && <EditForm of={{ data, etag }} save={save} />}
            </div>
          </div>
        )}
      </ResourceView>
    </Page>
  )
}

const moveColumns = () =>
  [
    { key: 'at', title: t('when'), main: true, cell: ({ at: when }: Card['transactions'][number]) => <Moment at={when} /> },
    { key: 'kind', title: t('what'), cell: ({ kind }: Card['transactions'][number]) => t(`kind.${kind}`) },
    {
      key: 'order',
      title: t('order'),
      cell: ({ orderId }: Card['transactions'][number]) => orderId && <a href={shopPath('orders', orderId)}>{t('toOrder')}</a>,
    },
    { key: 'amount', title: t('amount'), end: true, cell: ({ amount }: Card['transactions'][number]) => <Money of={amount} /> },
  ] as const

const expiryText = (iso: string | null | undefined) => (iso ? moment(iso) : t('never'))

const differences = ({ status, note, expiresAt }: Change, theirs: Card): readonly (readonly [string, string, string])[] => {
  const rows: (readonly [string, string, string])[] = []
  if (status !== undefined && status !== theirs.status) rows.push([common('status'), t(`is.${status}`), t(`is.${theirs.status}`)])
  if (note !== undefined && note !== theirs.note) rows.push([t('note'), note ?? '–', theirs.note ?? '–'])
  if (expiresAt !== undefined && expiresAt !== theirs.expiresAt)
    rows.push([t('expires'), expiryText(expiresAt), expiryText(theirs.expiresAt)])
  return rows
}

type CardText = { note: string; expiresAt: string }
type EditDraft = RecordDraft<Card, CardText>

function EditForm({ of, save }: { of: VersionedCard; save: (begun: VersionedCard, change: Change, draft: EditDraft) => Promise<boolean> }) {
  const zone = timeZone()
  const draft = useRecordDraft(of, ({ note, expiresAt }): CardText => ({ note: note ?? '', expiresAt: wallTimeText(expiresAt, zone) }))
  async function submit() {
    const begun = draft.begun()
    const typed = draft.now()
    const expiresAt = parseChangedWallTime(typed.expiresAt, begun.data.expiresAt, zone)
    if (expiresAt === undefined) throw new Error(t('notMoment'))
    const isMoved = expiresAt !== begun.data.expiresAt
    if (await save(begun, { note: typed.note.trim() || null, ...(isMoved && { expiresAt }) }, draft)) notify(common('saved'))
  }
  return (
    <Section title={common('edit')}>
      <Form onSubmit={submit} dirty={draft.dirty} label={common('edit')} keepsTyping>
        <TextField bind={draft.of.expiresAt} label={t('expires')} type="datetime-local" hint={t('expiresHint', { zone })} />
        <TextAreaField bind={draft.of.note} label={t('note')} hint={t('noteHint')} max={500} rows={3} />
      </Form>
    </Section>
  )
}
