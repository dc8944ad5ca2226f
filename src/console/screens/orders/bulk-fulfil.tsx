import { useSignal } from '@preact/signals'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { common } from '../../lib/i18n/common.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Table } from '../../ui/table.tsx'
import { type BulkResult, fulfilAll } from './bulk.ts'
import { textOrNull } from './fulfilment.domain.ts'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'

type OrderRef = Pick<Order, 'id' | 'number'>

/** Shows how many orders were fulfilled, and why the others were not. */
export function BulkResults({ results, orders }: { results: readonly BulkResult[]; orders: readonly OrderRef[] }) {
  const numbers = new Map(orders.map(({ id, number }) => [id, number]))
  const failed = results.filter(({ status }) => status === 'FAILED')
  return (
    <div role="status">
      {results.length > failed.length && <Note tone="good">{t('bulkDone', { n: results.length - failed.length })}</Note>}
      {failed.length > 0 && (
        <>
          <Note tone="bad">{t('bulkFailed', { n: failed.length })}</Note>
          <Table
            caption={t('bulkFailed', { n: failed.length })}
            columns={[
              { title: common('order'), main: true, cell: ({ orderId }) => `#${numbers.get(orderId) ?? ''}` },
              { title: t('bulkReason'), cell: ({ message }) => <bdi>{message}</bdi> },
            ]}
            rows={failed}
            rowKey={({ orderId }) => orderId}
          />
        </>
      )}
    </div>
  )
}

/** Fulfils what is left of the selected orders. */
export function BulkFulfilDialog({ orders, onClose }: { orders: readonly OrderRef[]; onClose: () => void }) {
  const carrier = useSignal('')
  const results = useSignal<readonly BulkResult[] | undefined>(undefined)
  const sendOnce = useIdempotentSend()
  async function send(): Promise<void> {
    const carrierName = textOrNull(carrier.value)
    results.value = await fulfilAll(
      sendOnce,
      orders.map(({ id: orderId }) => ({ orderId, ...(carrierName === null ? {} : { carrier: carrierName }) })),
    )
  }
  const title = t('bulkTitle', { n: orders.length })
  return (
    <FormDialog title={title} onClose={onClose}>
      {results.value ? (
        <BulkResults results={results.value} orders={orders} />
      ) : (
        <Form onSubmit={send} submit={t('sendNow')} label={title} dirty={carrier.value !== ''}>
          <p>{t('bulkText')}</p>
          <TextField label={t('carrier')} bind={carrier} max={100} />
        </Form>
      )}
    </FormDialog>
  )
}
