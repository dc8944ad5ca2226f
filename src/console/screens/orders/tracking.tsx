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

type LoadedFile = { readonly file: TrackingFile; readonly orders: ReadonlyMap<number, Order> }
type MatchedRow = TrackingRow & { readonly order: Order }

/** Fulfils orders with the tracking numbers of a CSV file. */
export default function TrackingNumbers() {
  const loaded = useSignal<LoadedFile | undefined>(undefined)
  const results = useSignal<readonly BulkResult[] | undefined>(undefined)
  const failure = useSignal<unknown>(undefined)
  const sendOnce = useIdempotentSend()
  async function loadFile([file]: readonly File[]): Promise<void> {
    results.value = undefined
    loaded.value = undefined
    failure.value = undefined
    if (!file) return
    try {
      if (file.size > fileBytesMax) throw new Error(t('trackingTooLarge', { n: rowsMax }))
      const trackingFile = parseTracking(await file.text())
      if (!trackingFile) throw new Error(t('trackingNoColumn'))
      if (trackingFile.rows.length > rowsMax) throw new Error(t('trackingTooLarge', { n: rowsMax }))
      loaded.value = { file: trackingFile, orders: await readByNumbers(trackingFile.rows.map(({ number }) => number)) }
    } catch (error) {
      failure.value = error
    }
  }
  const rows = loaded.value?.file.rows ?? []
  const matchedRows: readonly MatchedRow[] = rows.flatMap((row) => {
    const order = loaded.value?.orders.get(row.number)
    return order ? [{ ...row, order }] : []
  })
  async function send(): Promise<void> {
    results.value = await fulfilAll(
      sendOnce,
      matchedRows.map(({ order, trackingNumber, carrier }) => ({
        orderId: order.id,
        ...(trackingNumber && { trackingNumber }),
        ...(carrier && { carrier }),
      })),
    )
  }
  return (
    <Page title={t('trackingFile')} back={{ href: shopPath('orders'), text: common('orders') }}>
      <Section hint={t('trackingFileHint')}>
        <FileField label={t('trackingChoose')} accept=".csv,text/csv" onFiles={loadFile} />
        {failure.value !== undefined && <ErrorMessage error={failure.value} />}
      </Section>
      {results.value ? (
        <Section>
          <BulkResults results={results.value} orders={matchedRows.map(({ order }) => order)} />
          <Button onPress={() => void loadFile([])} text={common('close')} />
        </Section>
      ) : (
        loaded.value && <TrackingPreview loaded={loaded.value} matchedRows={matchedRows} onSend={send} />
      )}
    </Page>
  )
}

function TrackingPreview({
  loaded,
  matchedRows,
  onSend,
}: {
  loaded: LoadedFile
  matchedRows: readonly MatchedRow[]
  onSend: () => Promise<void>
}) {
  const { rows, problems } = loaded.file
  const missing = rows.filter(({ number }) => !loaded.orders.has(number))
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
      {matchedRows.length > 0 && (
        <Form onSubmit={onSend} submit={t('bulkTitle', { n: matchedRows.length })} label={t('trackingFile')} dirty>
          <Table
            caption={t('trackingFile')}
            columns={[
              { title: common('order'), main: true, cell: ({ number }) => <span class="number">#{number}</span> },
              { title: t('trackingNumber'), cell: ({ trackingNumber }) => <bdi>{trackingNumber}</bdi> },
              { title: t('carrier'), cell: ({ carrier }) => <bdi>{carrier}</bdi> },
            ]}
            rows={matchedRows}
            rowKey={({ number }) => number}
          />
        </Form>
      )}
    </Section>
  )
}
