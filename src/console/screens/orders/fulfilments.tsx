import { useEffect, useRef } from 'preact/hooks'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { mayFulfil } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { textOrNull } from './fulfilment.domain.ts'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'
import { unfulfilledUnits } from './refund.domain.ts'

type Fulfilment = Schema<'Fulfilment'>

/** Fulfilments and remaining units. */
export function Fulfilments({ of, onChange, query }: { of: Order; onChange: () => Promise<void>; query: Query }) {
  const { fulfilments = [] } = of
  const left = unfulfilledUnits(of)
  const corrected = query.of['do'] === 'tracking' ? fulfilments.find(({ id }) => id === query.of['parcel']) : undefined
  if (fulfilments.length === 0 && left === 0) return null
  const close = () => query.set({ do: undefined, parcel: undefined }, { replace: true })
  return (
    <Section
      title={t('parcels')}
      actions={mayFulfil.value && left > 0 && <ButtonLink icon="truck" href={query.href({ do: 'send' })} text={t('send')} />}
    >
      {left > 0 && <p class="faint">{t('parcelsLeft', { n: left })}</p>}
      <ol class="plain">
        {fulfilments.map((parcel, place) => (
          <li key={parcel.id} class="parcel">
            <header>
              <strong>{t('parcel', { n: place + 1 })}</strong>
              <Moment at={parcel.createdAt} />
              {mayFulfil.value && (
                <ButtonLink
                  kind="quiet"
                  href={query.href({ do: 'tracking', parcel: parcel.id })}
                  label={`${t('editTracking')}: ${t('parcel', { n: place + 1 })}`}
                  text={t('editTracking')}
                />
              )}
            </header>
            <p>
              {parcel.carrier && <bdi>{parcel.carrier}</bdi>}{' '}
              {parcel.trackingNumber ? (
                <CopyableText text={parcel.trackingNumber} label={t('trackingNumber')} />
              ) : (
                <span class="faint">{t('noTracking')}</span>
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

type VersionedFulfilment = { data: Fulfilment; etag: string }

/** Corrects a fulfilment's tracking. */
function TrackingDialog({
  orderId,
  parcel,
  onClose,
  onDone,
}: {
  orderId: string
  parcel: Fulfilment
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const path = { orderId, fulfilmentId: parcel.id }
  // The order has no versions of its fulfilments.
  const current = useResource(parcel.id, (signal) =>
    readVersioned(api.GET('/v2/orders/{orderId}/fulfilments/{fulfilmentId}', { params: { path }, signal })),
  )
  return (
    <FormDialog title={t('editTracking')} onClose={onClose}>
      <ResourceView of={current}>{(of) => <TrackingForm of={of} resource={current} path={path} onDone={onDone} />}</ResourceView>
    </FormDialog>
  )
}

const trackingText = ({ trackingNumber, carrier }: Fulfilment) => ({ trackingNumber: trackingNumber ?? '', carrier: carrier ?? '' })

function TrackingForm({
  of,
  resource,
  path,
  onDone,
}: {
  of: VersionedFulfilment
  resource: Resource<VersionedFulfilment>
  path: { orderId: string; fulfilmentId: string }
  onDone: () => Promise<void>
}) {
  const editor = useRecordEditor(resource, of, trackingText)
  const sendOnce = useIdempotentSend()
  const first = useRef<HTMLDivElement>(null)
  // The dialog opened before the field existed.
  useEffect(() => first.current?.querySelector('input')?.focus(), [])
  async function send(): Promise<void> {
    const { trackingNumber, carrier } = editor.now()
    const body = { trackingNumber: textOrNull(trackingNumber), carrier: textOrNull(carrier) }
    const saved = await editor.save({
      save: (version) =>
        sendOnce([body, version], (header) =>
          readVersioned<Fulfilment>(
            api.PATCH('/v2/orders/{orderId}/fulfilments/{fulfilmentId}', {
              params: { path, header: { ...header, ...ifMatch(version) } },
              body,
            }),
          ),
        ),
      differences: (theirs) => [
        [t('trackingNumber'), body.trackingNumber ?? '–', theirs.trackingNumber ?? '–'],
        [t('carrier'), body.carrier ?? '–', theirs.carrier ?? '–'],
      ],
    })
    if (!saved) return
    notify(common('saved'))
    await onDone()
  }
  return (
    <Form onSubmit={send} dirty={editor.dirty} label={t('editTracking')}>
      <div ref={first}>
        <TextField label={t('trackingNumber')} bind={editor.of.trackingNumber} max={100} code />
      </div>
      <TextField label={t('carrier')} bind={editor.of.carrier} max={100} />
    </Form>
  )
}
