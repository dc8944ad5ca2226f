import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { useIntention } from '../../lib/intention.ts'
import type { Query } from '../../lib/query.ts'
import { Refused } from '../../lib/refused.ts'
import { mayFulfil } from '../../lib/shop.ts'
import { c } from '../../lib/words/common.ts'
import { Copyable, When } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { notify } from '../../lib/notices.ts'
import type { Order } from './kit.tsx'
import { unsent } from './refund.domain.ts'
import { textOrNull } from './sending.domain.ts'
import { w } from './words.ts'

type Parcel = Schema<'Fulfilment'>

/** What was sent, and what is left to send. */
export function Parcels({ of, onChange, query }: { of: Order; onChange: () => Promise<void>; query: Query }) {
  const { fulfilments = [] } = of
  const left = unsent(of)
  const corrected = query.of['do'] === 'tracking' ? fulfilments.find(({ id }) => id === query.of['parcel']) : undefined
  if (fulfilments.length === 0 && left === 0) return null
  const close = () => query.set({ do: undefined, parcel: undefined }, { replace: true })
  return (
    <Section
      title={w('parcels')}
      actions={
        mayFulfil.value &&
        left > 0 && (
          <ButtonLink icon="truck" href={query.href({ do: 'send' })}>
            {w('send')}
          </ButtonLink>
        )
      }
    >
      {left > 0 && <p class="faint">{w('parcelsLeft', { n: left })}</p>}
      <ol class="plain">
        {fulfilments.map((parcel, place) => (
          <li key={parcel.id} class="parcel">
            <header>
              <strong>{w('parcel', { n: place + 1 })}</strong>
              <When at={parcel.createdAt} />
              {mayFulfil.value && (
                <ButtonLink
                  kind="quiet"
                  href={query.href({ do: 'tracking', parcel: parcel.id })}
                  label={`${w('correct')}: ${w('parcel', { n: place + 1 })}`}
                >
                  {w('correct')}
                </ButtonLink>
              )}
            </header>
            <p>
              {parcel.carrier && <bdi>{parcel.carrier}</bdi>}{' '}
              {parcel.trackingNumber ? (
                <Copyable text={parcel.trackingNumber} label={w('trackingNumber')} />
              ) : (
                <span class="faint">{w('noTracking')}</span>
              )}
            </p>
            <ul>
              {parcel.lines.map(({ lineId, quantity }) => (
                <li key={lineId}>
                  {number(quantity)} × <bdi>{of.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {corrected && mayFulfil.value && (
        <TrackingDialog
          orderId={of.id}
          parcel={corrected}
          onClose={close}
          onDone={async () => {
            close()
            await onChange()
          }}
        />
      )}
    </Section>
  )
}

/** Corrects what a parcel is tracked by. */
function TrackingDialog({
  orderId,
  parcel,
  onClose,
  onDone,
}: {
  orderId: string
  parcel: Parcel
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const begun = useSignal(parcel)
  const trackingNumber = useSignal(parcel.trackingNumber ?? '')
  const carrier = useSignal(parcel.carrier ?? '')
  const once = useIntention()
  const body = () => ({ trackingNumber: textOrNull(trackingNumber.value), carrier: textOrNull(carrier.value) })
  async function now(): Promise<{ data: Parcel; etag: string }> {
    const order = await ok(api.GET('/v2/orders/{id}', { params: { path: { id: orderId } } }))
    const data = order.fulfilments?.find(({ id }) => id === parcel.id) ?? parcel
    return { data, etag: data.updatedAt }
  }
  /** A parcel is read with its order alone, which tells no version of it: when it was changed last stands in for that. */
  async function save(version: string | undefined): Promise<Parcel> {
    if ((await now()).etag !== version) throw new Refused(412, c('conflictTitle'), undefined, null, null)
    const path = { id: orderId, fulfilmentId: parcel.id }
    return once(body(), (key) =>
      ok(
        api.PATCH('/v2/orders/{id}/fulfilments/{fulfilmentId}', {
          params: { path, header: { 'idempotency-key': key } },
          body: body(),
        }),
      ),
    )
  }
  async function send(): Promise<void> {
    const saved = await saveVersioned(begun.value.updatedAt, {
      save,
      theirs: now,
      differences: (theirs) => [
        [w('trackingNumber'), trackingNumber.value, theirs.trackingNumber ?? '–'],
        [w('carrier'), carrier.value, theirs.carrier ?? '–'],
      ],
      onTheirs({ data }) {
        begun.value = data
        trackingNumber.value = data.trackingNumber ?? ''
        carrier.value = data.carrier ?? ''
      },
    })
    if (!saved) return
    notify(c('saved'))
    await onDone()
  }
  const isDirty = trackingNumber.value !== (begun.value.trackingNumber ?? '') || carrier.value !== (begun.value.carrier ?? '')
  return (
    <FormDialog title={w('correctTitle')} onClose={onClose}>
      <Form onSubmit={send} dirty={isDirty} label={w('correctTitle')}>
        <TextField label={w('trackingNumber')} bind={trackingNumber} max={100} code />
        <TextField label={w('carrier')} bind={carrier} max={100} />
      </Form>
    </FormDialog>
  )
}
