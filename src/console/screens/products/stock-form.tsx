import { useState } from 'preact/hooks'
import { api, newIdempotencyKey, ok } from '../../lib/api/api.ts'
import type { IdempotencyHeader } from '../../lib/api/idempotent-send.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { number } from '../../lib/format/format.ts'
import { createDraft, draftValues, setFields } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { NumberField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { t } from './i18n.ts'
import { type StockBody, type StockText, stockBody } from './stock.domain.ts'

const blank: StockText = { kind: 'counted', quantity: '', reason: '' }

/** Sets or adjusts a variant's stock, with an undo for adjustments. */
export function StockForm({ path, onChanged }: { path: { id: string; variantId: string }; onChanged: () => unknown }) {
  const [draft] = useState(() => createDraft<StockText>(blank))
  const [error, setError] = useState<string | undefined>(undefined)
  const sendOnce = useIdempotentSend()

  const send = (body: StockBody, header: IdempotencyHeader) =>
    ok(api.POST('/product-v2/{id}/variants/{variantId}/stock', { params: { path, header }, body }))
  async function change(): Promise<void> {
    const body = stockBody(draftValues(draft))
    setError(body === undefined ? common('notNumber') : undefined)
    if (body === undefined) throw new Error(common('notNumber'))
    const { onHand } = await sendOnce(body, (header) => send(body, header))
    setFields(draft, { quantity: '', reason: '' })
    await onChanged()
    const { delta } = body
    // A count is corrected by another count; an adjustment is reverted.
    const undo = async () => {
      await send({ delta: -(delta ?? 0), reason: t('undone') }, { 'idempotency-key': newIdempotencyKey() })
      await onChanged()
    }
    notify(t('stockChanged', { onHand: number(onHand) }), delta === undefined ? {} : { undo })
  }
  const { kind, quantity, reason } = draftValues(draft)
  return (
    <Form onSubmit={change} submit={t('changeStock')} dirty={quantity !== '' || reason !== ''} label={t('changeStock')}>
      <SelectField
        label={t('way')}
        bind={draft.kind}
        options={[
          ['counted', t('way.counted')],
          ['more', t('way.more')],
          ['fewer', t('way.fewer')],
        ]}
      />
      <NumberField
        label={kind === 'counted' ? t('newQuantity') : common('quantity')}
        bind={draft.quantity}
        max={10}
        required
        error={error}
        hint={kind === 'counted' ? t('countedHint') : undefined}
      />
      <TextField label={`${common('reason')} (${common('optional')})`} bind={draft.reason} max={255} />
    </Form>
  )
}
