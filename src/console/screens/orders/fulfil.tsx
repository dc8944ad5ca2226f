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
export function FulfilDialog({ of, onClose, onDone }: OrderDialogProps) {
  const left = of.lines.filter(({ unfulfilledQuantity = 0 }) => unfulfilledQuantity > 0)
  const units = useUnits(left, ({ unfulfilledQuantity = 0 }) => String(unfulfilledQuantity))
  const trackingNumber = useSignal('')
  const carrier = useSignal('')
  const sendOnce = useIdempotentSend()
  const typed = left.map((line) => ({ line, n: parseUnits(units.of(line).value, line.unfulfilledQuantity ?? 0) }))
  const isWrong = typed.some(({ n }) => n === undefined)
  function readFulfilment(): FulfilmentBody {
    if (isWrong) throw new Error(t('quantityWrong'))
    const parcel = fulfilmentBody(of, Object.fromEntries(typed.map(({ line, n = 0 }) => [line.id, n])), {
      trackingNumber: trackingNumber.value,
      carrier: carrier.value,
    })
    if (!parcel) throw new Error(t('parcelEmpty'))
    return parcel
  }
  async function send(): Promise<void> {
    // A retry sends the first body, although fewer units can remain by then.
    await sendOnce(
      [units.typed(), trackingNumber.value, carrier.value],
      (header, body) => ok(api.POST('/v2/orders/{orderId}/fulfilments', { params: { path: { orderId: of.id }, header }, body })),
      readFulfilment,
    )
    notify(t('sent'))
    await onDone()
  }
  return (
    <FormDialog title={t('sendTitle', { number: `#${of.number}` })} onClose={onClose} wide>
      {left.length === 0 ? (
        <Note>{t('nothingToSend')}</Note>
      ) : (
        <Form
          onSubmit={send}
          submit={t('sendNow')}
          label={t('sendTitle', { number: `#${of.number}` })}
          dirty={units.isDirty() || trackingNumber.value !== '' || carrier.value !== ''}
        >
          <ul class="picked-lines">
            {typed.map(({ line, n }) => (
              <li key={line.id}>
                <OrderLineName of={line} />
                <NumberField
                  label={common('quantity')}
                  of={line.title}
                  bind={units.of(line)}
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
          {of.shippingAddress && (
            <div>
              <strong>{t('shippingAddress')}</strong>
              <Address of={of.shippingAddress} />
            </div>
          )}
        </Form>
      )}
    </FormDialog>
  )
}
