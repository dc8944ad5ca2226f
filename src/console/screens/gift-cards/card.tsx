import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, type Schema, versioned } from '../../lib/api/api.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, timeZone } from '../../lib/format/format.ts'
import { wallKept, wallText } from '../../lib/format/zoned-time.ts'
import { type RecordDraft, useRecordDraft } from '../../lib/forms/use-draft.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLive } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { at, inShop, mayManage } from '../../lib/session/current-shop.ts'
import { Facts, Money, Note, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { AreaField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { w } from './i18n.ts'
import { CardStateOf } from './list.tsx'

type Card = Schema<'GiftCardWithTransactions'>
type Held = { data: Card; etag: string }
type Change = { status?: Card['status']; note?: string | null; expiresAt?: string | null }

export default function GiftCard() {
  const id = useRoute().params['id'] ?? ''
  const read = (signal?: AbortSignal): Promise<Held> =>
    versioned(api.GET('/giftcard/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<Held>
  const card = useResource(id, read)
  const once = useIntention()
  const [header] = useState(inShop)
  useLive(['order.*'], card.reload)
  const held = card.data.value

  /**
   * Sends a change of that version and shows what there is then. False where somebody else's was looked at instead. That the card was disabled
   * meanwhile is no conflict with its note, nor the other way round.
   */
  async function save(begun: Held, change: Change, draft?: EditDraft): Promise<boolean> {
    const sent = draft?.now()
    const show = (now: Held) => {
      draft?.take(now)
      card.put(now)
    }
    const saved = await saveVersioned(begun.etag, {
      save: (version) =>
        once([change, version], (key) =>
          versioned(
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
    // A change answers the card without what was done with it.
    const now = { data: { ...(card.data.value ?? begun).data, ...saved.data }, etag: saved.etag }
    if (sent) draft?.saved(now, sent)
    card.put(now)
    await card.reload()
    return true
  }
  async function setStatus(shown: Held, status: Card['status']) {
    const sure =
      status === 'ACTIVE' ||
      (await confirm({ title: w('disableTitle'), body: <p>{w('disableText')}</p>, action: w('disable'), danger: true }))
    if (!sure || !(await save(shown, { status }))) return
    const back = status === 'ACTIVE' ? 'DISABLED' : 'ACTIVE'
    notify(w(status === 'ACTIVE' ? 'enabled' : 'disabled'), {
      undo: () => card.data.value && save(card.data.value, { status: back }),
    })
  }
  return (
    <Page
      title={held ? w('cardNamed', { last4: held.data.last4 }) : w('card')}
      back={{ href: at('gift-cards'), text: w('title') }}
      subtitle={held && <CardStateOf of={held.data} />}
      actions={
        held &&
        mayManage.value &&
        (held.data.status === 'ACTIVE' ? (
          <Button kind="danger" onPress={() => setStatus(held, 'DISABLED')}>
            {w('disable')}
          </Button>
        ) : (
          <Button onPress={() => setStatus(held, 'ACTIVE')}>{w('enable')}</Button>
        ))
      }
    >
      <Loaded of={card}>
        {({ data, etag }) => (
          <div class="columns">
            <Section title={w('moves')}>
              {data.transactionsCapped && <Note>{w('movesCapped', { n: data.transactions.length })}</Note>}
              <Table caption={w('movesList')} rows={data.transactions} rowKey={({ id: move }) => move} columns={moveColumns()} />
            </Section>
            <div class="stack">
              <Section title={w('facts')}>
                <Facts
                  of={[
                    [w('balance'), <Money key="balance" of={data.balance} />],
                    [w('initial'), <Money key="initial" of={data.initialAmount} />],
                    [w('expires'), data.expiresAt ? <When at={data.expiresAt} /> : w('never')],
                    [w('for'), data.customerId ? <a href={at('customers', data.customerId)}>{w('toCustomer')}</a> : w('anybody')],
                    [w('issued'), <When key="issued" at={data.createdAt} />],
                  ]}
                />
                <p class="hint">{w('neverAgain')}</p>
              </Section>
              {mayManage.value && <Edit of={{ data, etag }} save={save} />}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

const moveColumns = () =>
  [
    { key: 'at', title: w('when'), main: true, cell: ({ at: when }: Card['transactions'][number]) => <When at={when} /> },
    { key: 'kind', title: w('what'), cell: ({ kind }: Card['transactions'][number]) => w(`kind.${kind}`) },
    {
      key: 'order',
      title: w('order'),
      cell: ({ orderId }: Card['transactions'][number]) => orderId && <a href={at('orders', orderId)}>{w('toOrder')}</a>,
    },
    { key: 'amount', title: w('amount'), end: true, cell: ({ amount }: Card['transactions'][number]) => <Money of={amount} /> },
  ] as const

const said = (iso: string | null | undefined) => (iso ? moment(iso) : w('never'))

const differences = ({ status, note, expiresAt }: Change, theirs: Card): readonly (readonly [string, string, string])[] => {
  const rows: (readonly [string, string, string])[] = []
  if (status !== undefined && status !== theirs.status) rows.push([c('status'), w(`is.${status}`), w(`is.${theirs.status}`)])
  if (note !== undefined && note !== theirs.note) rows.push([w('note'), note ?? '–', theirs.note ?? '–'])
  if (expiresAt !== undefined && expiresAt !== theirs.expiresAt) rows.push([w('expires'), said(expiresAt), said(theirs.expiresAt)])
  return rows
}

type Typed = { note: string; expiresAt: string }
type EditDraft = RecordDraft<Card, Typed>

function Edit({ of, save }: { of: Held; save: (begun: Held, change: Change, draft: EditDraft) => Promise<boolean> }) {
  const zone = timeZone()
  const draft = useRecordDraft(of, ({ note, expiresAt }): Typed => ({ note: note ?? '', expiresAt: wallText(expiresAt, zone) }))
  async function submit() {
    const begun = draft.begun()
    const typed = draft.now()
    const expiresAt = wallKept(typed.expiresAt, begun.data.expiresAt, zone)
    if (expiresAt === undefined) throw new Error(w('notMoment'))
    const isMoved = expiresAt !== begun.data.expiresAt
    if (await save(begun, { note: typed.note.trim() || null, ...(isMoved && { expiresAt }) }, draft)) notify(c('saved'))
  }
  return (
    <Section title={c('edit')}>
      <Form onSubmit={submit} dirty={draft.dirty} label={c('edit')} keepsTyping>
        <TextField bind={draft.of.expiresAt} label={w('expires')} type="datetime-local" hint={w('expiresHint', { zone })} />
        <AreaField bind={draft.of.note} label={w('note')} hint={w('noteHint')} max={500} rows={3} />
      </Form>
    </Section>
  )
}
