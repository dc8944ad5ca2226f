import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { mayManage } from '../../lib/session/current-shop.ts'
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
export function Timeline({ of, onChange }: { of: Order; onChange: () => Promise<void> }) {
  const all = timelineOf(of)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? all : all.slice(0, pageSize)
  const named = useStaffNames(shown.flatMap((one) => (one.kind === 'note' ? [one.actor] : [])))
  return (
    <Section title={t('timeline')}>
      {mayManage.value && <NoteForm orderId={of.id} onChange={onChange} />}
      <ol class="timeline">
        {shown.map((one) => (
          <li key={`${one.kind}${one.id}`}>
            <TimelineItem of={one} named={named} />
          </li>
        ))}
      </ol>
      {shown.length < all.length && <Button onPress={() => setWhole(true)} text={t('timelineAll', { n: all.length })} />}
    </Section>
  )
}

function TimelineItem({ of, named }: { of: TimelineEntry; named: ReturnType<typeof useStaffNames> }) {
  if (of.kind === 'note')
    return (
      <>
        <p class="note-text">
          <bdi>{of.text}</bdi>
        </p>
        <small class="faint">
          {common('note')} <Moment at={of.at} /> · {named(of.actor)}
        </small>
      </>
    )
  const key = `event.${of.type}`
  return (
    <>
      <span>
        {t.has(key) ? t(key) : of.type} {of.amount && <Money of={of.amount} />}
      </span>
      {of.details.map((text, place) => (
        <small key={place} class="told">
          <bdi>{text}</bdi>
        </small>
      ))}
      <small class="faint">
        <Moment at={of.at} />
      </small>
    </>
  )
}

function NoteForm({ orderId, onChange }: { orderId: string; onChange: () => Promise<void> }) {
  const text = useSignal('')
  const sendOnce = useIdempotentSend()
  async function note(): Promise<void> {
    const body = { text: text.value.trim() }
    await sendOnce(body, (header) => ok(api.POST('/v2/orders/{orderId}/notes', { params: { path: { orderId }, header }, body })))
    text.value = ''
    notify(t('noteAdded'))
    await onChange()
  }
  return (
    <Form onSubmit={note} submit={t('noteAdd')} label={common('note')} dirty={text.value !== ''}>
      <TextAreaField label={common('note')} hint={t('noteHint')} bind={text} rows={2} max={1000} required />
    </Form>
  )
}
