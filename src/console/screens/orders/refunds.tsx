import { useRef } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { serverNow } from '../../lib/format/server-clock.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CsvButton } from '../../ui/csv-button.tsx'
import { Filters } from '../../ui/filters.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { EmptyState, Page } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { t } from './i18n.ts'
import { canSettle } from './refund.domain.ts'
import { SettleDialog } from './settle.tsx'

type Refund = Schema<'ListedRefund'>

const statuses = ['MANUAL', 'CLAIMABLE', 'PENDING', 'SUCCEEDED', 'FAILED'] as const

/** The shop's refunds. */
export default function Refunds() {
  const query = useQuery()
  const { status, do: dialog, refund: refundId } = query.values
  const filters = { status: status as Refund['status'] | undefined }
  const refunds = useResource(JSON.stringify([filters, query.page]), (signal) =>
    ok(api.GET('/v2/refunds', { params: { query: { ...(status ? filters : {}), page: query.page } as object }, signal })),
  )
  useLiveReload(['order.*'], refunds.reload)
  const close = () => query.set({ do: undefined, refund: undefined, page: query.values['page'] }, { replace: true })
  // The dialog stays open if its refund leaves the list.
  const dialogRefund = useRef<Refund | undefined>(undefined)
  if (dialogRefund.current?.id !== refundId) dialogRefund.current = undefined
  dialogRefund.current ??= refunds.data.value?.data.find(({ id }) => id === refundId)
  const refundToSettle = dialog === 'settle' && canManage.value ? dialogRefund.current : undefined
  const columns: readonly Column<Refund>[] = [
    { title: common('order'), main: true, cell: ({ orderNumber }) => <span class="number">#{orderNumber}</span> },
    { title: common('amount'), alignEnd: true, cell: ({ amount }) => <Money amount={amount} /> },
    { title: common('date'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
    { title: common('status'), cell: ({ status: refundStatus }) => <StatusBadge status={refundStatus} /> },
    {
      title: t('way'),
      cell: ({ processor, giftCardAmount }) => (processor ? processorName(processor) : giftCardAmount.amount > 0 ? t('backToCards') : ''),
    },
    { title: common('reason'), cell: ({ reason }) => reason && <bdi class="cut">{reason}</bdi> },
    {
      title: t('settledAs'),
      cell: (refund) =>
        refund.settledReference ? (
          <bdi class="cut">{refund.settledReference}</bdi>
        ) : (
          canSettle(refund, serverNow()) &&
          canManage.value && (
            <ButtonLink href={query.href({ do: 'settle', refund: refund.id, page: query.values['page'] })} text={t('settle')} />
          )
        ),
    },
  ]
  return (
    <Page title={common('refunds')} actions={canManage.value && <CsvButton path="/v2/refunds" query={{ status }} name="refunds" />}>
      <Filters
        query={query}
        filters={[{ name: 'status', label: common('status'), options: statuses.map((status) => [status, stateName(status)]) }]}
      />
      <ListTable
        resource={refunds}
        query={query}
        isFiltered={status !== undefined}
        empty={<EmptyState icon="money" title={t('refundsNone')} text={t('refundsNoneText')} />}
        notFound={t('refundsNothing')}
        caption={common('refunds')}
        columns={columns}
        href={({ orderId }) => shopPath('orders', orderId)}
      />
      {refundToSettle && (
        <SettleDialog
          refund={refundToSettle}
          onClose={close}
          onDone={async () => {
            close()
            await refunds.reload()
          }}
        />
      )}
    </Page>
  )
}
