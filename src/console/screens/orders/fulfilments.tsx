import { useEffect, useRef } from 'preact/hooks'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import type { Query } from '../../lib/navigation/query.ts'
import { canFulfil } from '../../lib/session/current-shop.ts'
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
export function Fulfilments({ order, onChange, query }: { order: Order; onChange: () => Promise<void>; query: Query }) {
  const { fulfilments = [] } = order
  const remaining = unfulfilledUnits(order)
  const selected = query.values['do'] === 'tracking' ? fulfilments.find(({ id }) => id === query.values['parcel']) : undefined
  if (fulfilments.length === 0 && remaining === 0) return null
  const close = () => query.set({ do: undefined, parcel: undefined }, { replace: true })
  return (
    <Section
      title={t('parcels')}
      actions={canFulfil.value && remaining > 0 && <ButtonLink icon="truck" href={query.href({ do: 'send' })} text={t('send')} />}
    >
      {remaining > 0 && <p class="faint">{t('parcelsLeft', { n: remaining })}</p>}
      <ol class="plain">
        {fulfilments.map((fulfilment, index) => (
          <li key={fulfilment.id} class="parcel">
            <header>
              <strong>{t('parcel', { n: index + 1 })}</strong>
              <Moment at={fulfilment.createdAt} />
              {canFulfil.value && (
                <ButtonLink
                  kind="quiet"
                  href={query.href({ do: 'tracking', parcel: fulfilment.id })}
                  label={`${t('editTracking')}: ${t('parcel', { n: index + 1 })}`}
                  text={t('editTracking')}
                />
              )}
            </header>
            <p>
              {fulfilment.carrier && <bdi>{fulfilment.carrier}</bdi>}{' '}
              {fulfilment.trackingNumber ? (
                <CopyableText text={fulfilment.trackingNumber} label={t('trackingNumber')} />
              ) : (
                <span class="faint">{t('noTracking')}</span>
              )}
            </p>
            <ul>
              {fulfilment.lines.map(({ lineId, quantity }) => (
                <li key={lineId}>
                  {number(quantity)} × <bdi>{order.lines.find(({ id }) => id === lineId)?.title ?? lineId}</bdi>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {selected && canFulfil.value && (
        <TrackingDialog
          orderId={order.id}
          fulfilment={selected}
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

/** Corrects a fulfilment's tracking. */
function TrackingDialog({
  orderId,
  fulfilment,
  onClose,
  onDone,
}: {
  orderId: string
  fulfilment: Fulfilment
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const path = { orderId, fulfilmentId: fulfilment.id }
  // The order has no versions of its fulfilments.
  const current = useResource(fulfilment.id, (signal) =>
    readVersioned(api.GET('/v2/orders/{orderId}/fulfilments/{fulfilmentId}', { params: { path }, signal })),
  )
  return (
    <FormDialog title={t('editTracking')} onClose={onClose}>
      <ResourceView resource={current}>
        {(version) => <TrackingForm version={version} resource={current} path={path} onDone={onDone} />}
      </ResourceView>
    </FormDialog>
  )
}

const trackingText = ({ trackingNumber, carrier }: Fulfilment) => ({ trackingNumber: trackingNumber ?? '', carrier: carrier ?? '' })

function TrackingForm({
  version,
  resource,
  path,
  onDone,
}: {
  version: Versioned<Fulfilment>
  resource: Resource<Versioned<Fulfilment>>
  path: { orderId: string; fulfilmentId: string }
  onDone: () => Promise<void>
}) {
  const editor = useRecordEditor(resource, version, trackingText)
  const sendOnce = useIdempotentSend()
  const firstField = useRef<HTMLDivElement>(null)
  // The dialog opened before the field existed.
  useEffect(() => firstField.current?.querySelector('input')?.focus(), [])
  async function send(): Promise<void> {
    const { trackingNumber, carrier } = editor.values()
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
    <Form onSubmit={send} dirty={editor.isDirty} label={t('editTracking')}>
      <div ref={firstField}>
        <TextField label={t('trackingNumber')} bind={editor.fields.trackingNumber} max={100} code />
      </div>
      <TextField label={t('carrier')} bind={editor.fields.carrier} max={100} />
    </Form>
  )
}
