import { useSignal } from '@preact/signals'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { FileField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { type BulkResult, fulfilAll, readByNumbers } from './bulk.ts'
import { BulkResults } from './bulk-fulfil.tsx'
import { t } from './i18n.ts'
import type { Order } from './order-types.ts'
import { parseTracking, rowsMax, type TrackingFile, type TrackingRow } from './tracking.domain.ts'

const fileBytesMax = 1_048_576

type Loaded = { readonly file: TrackingFile; readonly orders: ReadonlyMap<number, Order> }
type Found = TrackingRow & { readonly order: Order }

/** Fulfils orders with the tracking numbers of a CSV file. */
export default function TrackingNumbers() {
  const loaded = useSignal<Loaded | undefined>(undefined)
  const results = useSignal<readonly BulkResult[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const sendOnce = useIdempotentSend()
  async function take([file]: readonly File[]): Promise<void> {
    results.value = undefined
    loaded.value = undefined
    failure.value = undefined
    if (!file) return
    try {
      if (file.size > fileBytesMax) throw new Error(t('trackingTooLarge', { n: rowsMax }))
      const read = parseTracking(await file.text())
      if (!read) throw new Error(t('trackingNoColumn'))
      if (read.rows.length > rowsMax) throw new Error(t('trackingTooLarge', { n: rowsMax }))
      loaded.value = { file: read, orders: await readByNumbers(read.rows.map(({ number }) => number)) }
    } catch (error) {
      failure.value = error
    }
  }
  const rows = loaded.value?.file.rows ?? []
  const found: readonly Found[] = rows.flatMap((row) => {
    const order = loaded.value?.orders.get(row.number)
    return order ? [{ ...row, order }] : []
  })
  async function send(): Promise<void> {
    results.value = await fulfilAll(
      sendOnce,
      found.map(({ order, trackingNumber, carrier }) => ({
        orderId: order.id,
        ...(trackingNumber && { trackingNumber }),
        ...(carrier && { carrier }),
      })),
    )
  }
  return (
    <Page title={t('trackingFile')} back={{ href: shopPath('orders'), text: common('orders') }}>
      <Section hint={t('trackingFileHint')}>
        <FileField label={t('trackingChoose')} accept=".csv,text/csv" onFiles={take} />
        {failure.value !== undefined && <ErrorMessage error={failure.value} />}
      </Section>
      {results.value ? (
        <Section>
          <BulkResults of={results.value} orders={found.map(({ order }) => order)} />
          <Button onPress={() => void take([])} text={common('close')} />
        </Section>
      ) : (
        loaded.value && <Preview of={loaded.value} found={found} onSend={send} />
      )}
    </Page>
  )
}

function Preview({ of, found, onSend }: { of: Loaded; found: readonly Found[]; onSend: () => Promise<void> }) {
  const { rows, problems } = of.file
  const missing = rows.filter(({ number }) => !of.orders.has(number))
  return (
    <Section>
      {missing.length > 0 && (
        <Note tone="warn">{t('trackingMissing', { list: missing.map(({ number }) => `#${number}`).join(', ') })}</Note>
      )}
      {problems.length > 0 && (
        <Note tone="warn">
          <ul>
            {problems.slice(0, 20).map(({ record, problem }) => (
              <li key={record}>{t(`trackingProblem.${problem}`, { n: record })}</li>
            ))}
          </ul>
        </Note>
      )}
      {found.length > 0 && (
        <Form onSubmit={onSend} submit={t('bulkTitle', { n: found.length })} label={t('trackingFile')} dirty>
          <Table
            caption={t('trackingFile')}
            columns={[
              { title: common('order'), main: true, cell: ({ number }) => <span class="number">#{number}</span> },
              { title: t('trackingNumber'), cell: ({ trackingNumber }) => <bdi>{trackingNumber}</bdi> },
              { title: t('carrier'), cell: ({ carrier }) => <bdi>{carrier}</bdi> },
            ]}
            rows={found}
            rowKey={({ number }) => number}
          />
        </Form>
      )}
    </Section>
  )
}
