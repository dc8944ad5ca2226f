import { useLocation, useRoute } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { usePolling } from '../../lib/api/poll.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useVisibleInterval } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { ListView } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { EndpointHealth } from './health.tsx'
import { t } from './i18n.ts'

type Endpoint = Schema<'WebhookEndpoint'>
type Delivery = Schema<'WebhookDelivery'>

const pollMs = 15_000

/** A webhook endpoint with its deliveries. */
export default function EndpointPage() {
  const id = useRoute().params['id'] ?? ''
  const endpoint = useResource(id, (signal) => ok(api.GET('/webhook-endpoints/{id}', { params: { path: { id } }, signal })))
  const { route } = useLocation()
  async function remove(url: string): Promise<void> {
    const body = <p>{t('removeText', { url })}</p>
    if (!(await confirm({ title: t('removeTitle'), body, action: common('delete'), danger: true }))) return
    await api.DELETE('/webhook-endpoints/{id}', { params: { path: { id } } })
    notify(t('removed'))
    route(shopPath('settings', 'webhooks'))
  }
  const current = endpoint.data.value
  return (
    <Page
      title={t('endpoint')}
      subtitle={current && <bdi>{current.url}</bdi>}
      back={{ href: shopPath('settings', 'webhooks'), text: t('title') }}
      actions={current && <Button kind="danger" onPress={() => remove(current.url)} text={common('delete')} />}
    >
      <ResourceView resource={endpoint}>{(loaded) => <EndpointFacts endpoint={loaded} />}</ResourceView>
      {current && <Deliveries endpoint={current} onChanged={endpoint.reload} />}
    </Page>
  )
}

const EndpointFacts = ({ endpoint }: { endpoint: Endpoint }) => (
  <Section title={common('status')} actions={<EndpointHealth endpoint={endpoint} />}>
    {endpoint.disabledAt ? (
      <Note tone="bad">{t(endpoint.disabledReason === 'GONE' ? 'disabled.GONE' : 'disabled.FAILING')}</Note>
    ) : (
      endpoint.failingSince && <Note tone="warn">{t('failingText', { at: moment(endpoint.failingSince) })}</Note>
    )}
    {endpoint.skippedAt && <Note tone="warn">{t('skipped', { n: endpoint.skipped, at: moment(endpoint.skippedAt) })}</Note>}
    <FactList
      facts={[
        [t('url'), <CopyableText key="url" text={endpoint.url} label={t('url')} />],
        [t('events'), endpoint.events.join(', ')],
        [t('since'), <Moment key="since" at={endpoint.createdAt} />],
      ]}
    />
  </Section>
)

function Deliveries({ endpoint, onChanged }: { endpoint: Endpoint; onChanged: () => Promise<void> }) {
  const query = useQuery()
  const { id, disabledAt } = endpoint
  const deliveries = useResource(`${id} ${query.page}`, (signal) =>
    ok(api.GET('/webhook-endpoints/{id}/deliveries', { params: { path: { id }, query: { page: query.page, limit: 25 } }, signal })),
  )
  async function reload(): Promise<void> {
    await Promise.all([deliveries.reload(), onChanged()])
  }
  // New deliveries send no event.
  useVisibleInterval(pollMs, reload)
  usePolling(!disabledAt && (deliveries.data.value?.data.some(({ status }) => status === 'PENDING') ?? false), reload)
  return (
    <Section title={t('deliveries')} hint={t('deliveriesHint')} wide>
      <ListView
        resource={deliveries}
        query={query}
        empty={<EmptyState icon="clock" title={t('noDeliveries')} text={t('noDeliveriesText')} />}
      >
        {(list) => (
          <Table
            caption={t('deliveries')}
            columns={columns({ endpointId: id, canResend: !disabledAt, reload })}
            rows={list.data}
            rowKey={(delivery) => delivery.id}
          />
        )}
      </ListView>
    </Section>
  )
}

type DeliveryActions = { endpointId: string; canResend: boolean; reload: () => Promise<void> }

const columns = ({ endpointId, canResend, reload }: DeliveryActions): readonly Column<Delivery>[] => [
  {
    title: t('event'),
    main: true,
    cell: ({ event, messageId }) => (
      <>
        <code>{event}</code>
        <br />
        <small class="faint">{messageId}</small>
      </>
    ),
  },
  { title: common('status'), cell: ({ status }) => <StatusBadge status={status} /> },
  { title: t('made'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: t('attempts'), alignEnd: true, cell: ({ attempts }) => attempts },
  { title: t('lastAnswer'), cell: (delivery) => <LastResponse delivery={delivery} /> },
  { title: t('nextAttempt'), cell: ({ nextAttemptAt }) => (nextAttemptAt ? <Moment at={nextAttemptAt} relative /> : '–') },
  {
    title: common('actions'),
    cell: (delivery) => (canResend ? <ResendButton endpointId={endpointId} delivery={delivery} onSent={reload} /> : '–'),
  },
]

const LastResponse = ({ delivery: { lastStatus, lastError } }: { delivery: Delivery }) =>
  lastStatus === null && lastError === null ? (
    <>–</>
  ) : (
    <>
      {lastStatus !== null && <code>{lastStatus}</code>}{' '}
      {lastError !== null && <bdi>{lastError === 'gave way' ? t('gaveWay') : lastError}</bdi>}
    </>
  )

function ResendButton({
  endpointId,
  delivery: { id, event, updatedAt },
  onSent,
}: {
  endpointId: string
  delivery: Delivery
  onSent: () => Promise<void>
}) {
  const sendOnce = useIdempotentSend()
  async function resend(): Promise<void> {
    const path = { id: endpointId, deliveryId: id }
    await sendOnce([id, updatedAt], (header) =>
      api.POST('/webhook-endpoints/{id}/deliveries/{deliveryId}/resend', { params: { path, header } }),
    )
    notify(t('resent'))
    await onSent()
  }
  return (
    <Button kind="quiet" onPress={resend}>
      {t('resend')}
      <span class="unseen">: {event}</span>
    </Button>
  )
}
