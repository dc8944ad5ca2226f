import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Address } from '../../ui/address.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { NumberField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { fulfilmentBody, parseUnits } from './fulfilment.domain.ts'
import { t } from './i18n.ts'
import { OrderLineName } from './order-line-name.tsx'
import type { OrderDialogProps } from './order-types.ts'
import { useUnits } from './units.ts'

type FulfilmentBody = NonNullable<ReturnType<typeof fulfilmentBody>>

/** Records a fulfilment; by default of all remaining units. */
export function FulfilDialog({ order, onClose, onDone }: OrderDialogProps) {
  const remainingLines = order.lines.filter(({ unfulfilledQuantity = 0 }) => unfulfilledQuantity > 0)
  const units = useUnits(remainingLines, ({ unfulfilledQuantity = 0 }) => String(unfulfilledQuantity))
  const trackingNumber = useSignal('')
  const carrier = useSignal('')
  const sendOnce = useIdempotentSend()
  const entries = remainingLines.map((line) => ({ line, n: parseUnits(units.fieldOf(line).value, line.unfulfilledQuantity ?? 0) }))
  const isInvalid = entries.some(({ n }) => n === undefined)
  function readFulfilment(): FulfilmentBody {
    if (isInvalid) throw new Error(t('quantityWrong'))
    const fulfilment = fulfilmentBody(order, Object.fromEntries(entries.map(({ line, n = 0 }) => [line.id, n])), {
      trackingNumber: trackingNumber.value,
      carrier: carrier.value,
    })
    if (!fulfilment) throw new Error(t('parcelEmpty'))
    return fulfilment
  }
  async function send(): Promise<void> {
    // A retry sends the first body, although fewer units can remain by then.
    await sendOnce(
      [units.texts(), trackingNumber.value, carrier.value],
      (header, body) => ok(api.POST('/v2/orders/{orderId}/fulfilments', { params: { path: { orderId: order.id }, header }, body })),
      readFulfilment,
    )
    notify(t('sent'))
    await onDone()
  }
  return (
    <FormDialog title={t('sendTitle', { number: `#${order.number}` })} onClose={onClose} wide>
      {remainingLines.length === 0 ? (
        <Note>{t('nothingToSend')}</Note>
      ) : (
        <Form
          onSubmit={send}
          submit={t('sendNow')}
          label={t('sendTitle', { number: `#${order.number}` })}
          dirty={units.isDirty() || trackingNumber.value !== '' || carrier.value !== ''}
        >
          <ul class="selected-lines">
            {entries.map(({ line, n }) => (
              <li key={line.id}>
                <OrderLineName line={line} />
                <NumberField
                  label={common('quantity')}
                  rowLabel={line.title}
                  bind={units.fieldOf(line)}
                  error={n === undefined ? t('atMost', { n: line.unfulfilledQuantity ?? 0 }) : undefined}
                />
                <span class="faint">{t('ofLeft', { n: number(line.unfulfilledQuantity ?? 0) })}</span>
              </li>
            ))}
          </ul>
          <div class="fields">
            <TextField label={t('trackingNumber')} bind={trackingNumber} max={100} code hint={t('trackingHint')} />
            <TextField label={t('carrier')} bind={carrier} max={100} />
          </div>
          {order.shippingAddress && (
            <div>
              <strong>{t('shippingAddress')}</strong>
              <Address address={order.shippingAddress} />
            </div>
          )}
        </Form>
      )}
    </FormDialog>
  )
}
