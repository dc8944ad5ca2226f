import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { canManage } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { TextAreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { useStaffNames } from '../../ui/staff-name.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'
import { type TimelineEntry, timelineOf } from './timeline.domain.ts'

const pageSize = 30

/** Events and notes of an order, newest first. */
export function Timeline({ order, onChange }: { order: Order; onChange: () => Promise<void> }) {
  const entries = timelineOf(order)
  const [isExpanded, setExpanded] = useState(false)
  const shownEntries = isExpanded ? entries : entries.slice(0, pageSize)
  const staffName = useStaffNames(shownEntries.flatMap((entry) => (entry.kind === 'note' ? [entry.actor] : [])))
  return (
    <Section title={t('timeline')}>
      {canManage.value && <NoteForm orderId={order.id} onChange={onChange} />}
      <ol class="timeline">
        {shownEntries.map((entry) => (
          <li key={`${entry.kind}${entry.id}`}>
            <TimelineItem entry={entry} staffName={staffName} />
          </li>
        ))}
      </ol>
      {shownEntries.length < entries.length && <Button onPress={() => setExpanded(true)} text={t('timelineAll', { n: entries.length })} />}
    </Section>
  )
}

function TimelineItem({ entry, staffName }: { entry: TimelineEntry; staffName: ReturnType<typeof useStaffNames> }) {
  if (entry.kind === 'note')
    return (
      <>
        <p class="note-text">
          <bdi>{entry.text}</bdi>
        </p>
        <small class="faint">
          {common('note')} <Moment at={entry.at} /> · {staffName(entry.actor)}
        </small>
      </>
    )
  return (
    <>
      <span>
        {t.find(`event.${entry.type}`) ?? entry.type} {entry.amount && <Money amount={entry.amount} />}
      </span>
      {entry.details.map((text, index) => (
        <small key={index}>
          <bdi>{text}</bdi>
        </small>
      ))}
      <small class="faint">
        <Moment at={entry.at} />
      </small>
    </>
  )
}

function NoteForm({ orderId, onChange }: { orderId: string; onChange: () => Promise<void> }) {
  const text = useSignal('')
  const sendOnce = useIdempotentSend()
  async function addNote(): Promise<void> {
    const body = { text: text.value.trim() }
    await sendOnce(body, (header) => ok(api.POST('/v2/orders/{orderId}/notes', { params: { path: { orderId }, header }, body })))
    text.value = ''
    notify(t('noteAdded'))
    await onChange()
  }
  return (
    <Form onSubmit={addNote} submit={t('noteAdd')} label={common('note')} dirty={text.value !== ''}>
      <TextAreaField label={common('note')} hint={t('noteHint')} bind={text} rows={2} max={1000} required />
    </Form>
  )
}
