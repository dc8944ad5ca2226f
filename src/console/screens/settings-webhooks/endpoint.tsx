import { useLocation, useRoute } from 'preact-iso/router'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { usePolling } from '../../lib/api/poll.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { c } from '../../lib/i18n/common.ts'
import { useLooking } from '../../lib/live/live-events.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { at } from '../../lib/session/current-shop.ts'
import { Copyable, Facts, Note, State, When } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { LoadedList } from '../../ui/list.tsx'
import { Empty, Loaded, Page, Section } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Health } from './health.tsx'
import { w } from './i18n.ts'

type Endpoint = Schema<'WebhookEndpoint'>
type Delivery = Schema<'WebhookDelivery'>

const looksMs = 15_000

/** One endpoint: how it is, and what was sent to it. */
export default function EndpointPage() {
  const id = useRoute().params['id'] ?? ''
  const endpoint = useResource(id, (signal) => ok(api.GET('/webhook-endpoints/{id}', { params: { path: { id } }, signal })))
  const { route } = useLocation()
  async function remove(url: string): Promise<void> {
    const body = <p>{w('removeText', { url })}</p>
    if (!(await confirm({ title: w('removeTitle'), body, action: c('remove'), danger: true }))) return
    await api.DELETE('/webhook-endpoints/{id}', { params: { path: { id } } })
    notify(w('removed'))
    route(at('settings', 'webhooks'))
  }
  const there = endpoint.data.value
  return (
    <Page
      title={w('endpoint')}
      subtitle={there && <bdi>{there.url}</bdi>}
      back={{ href: at('settings', 'webhooks'), text: w('title') }}
      actions={
        there && (
          <Button kind="danger" onPress={() => remove(there.url)}>
            {c('remove')}
          </Button>
        )
      }
    >
      <Loaded of={endpoint}>{(found) => <About of={found} />}</Loaded>
      {there && <Deliveries endpoint={there} endpointChanged={endpoint.reload} />}
    </Page>
  )
}

const About = ({ of }: { of: Endpoint }) => (
  <Section title={w('health')} actions={<Health of={of} />}>
    {of.disabledAt ? (
      <Note tone="bad">{w(of.disabledReason === 'GONE' ? 'disabled.GONE' : 'disabled.FAILING')}</Note>
    ) : (
      of.failingSince && <Note tone="warn">{w('failingText', { at: moment(of.failingSince) })}</Note>
    )}
    {of.skippedAt && <Note tone="warn">{w('skipped', { n: of.skipped, at: moment(of.skippedAt) })}</Note>}
    <Facts
      of={[
        [w('url'), <Copyable key="url" text={of.url} label={w('url')} />],
        [w('events'), of.events.join(', ')],
        [w('since'), <When key="since" at={of.createdAt} />],
      ]}
    />
  </Section>
)

function Deliveries({ endpoint, endpointChanged }: { endpoint: Endpoint; endpointChanged: () => Promise<void> }) {
  const query = useQuery()
  const { id, disabledAt } = endpoint
  const deliveries = useResource(`${id} ${query.page}`, (signal) =>
    ok(api.GET('/webhook-endpoints/{id}/deliveries', { params: { path: { id }, query: { page: query.page, limit: 25 } }, signal })),
  )
  async function reload(): Promise<void> {
    await Promise.all([deliveries.reload(), endpointChanged()])
  }
  // Nothing tells of a new one.
  useLooking(looksMs, reload)
  usePolling(!disabledAt && (deliveries.data.value?.data.some(({ status }) => status === 'PENDING') ?? false), reload)
  return (
    <Section title={w('deliveries')} hint={w('deliveriesHint')} wide>
      <LoadedList of={deliveries} query={query} empty={<Empty icon="clock" title={w('noDeliveries')} text={w('noDeliveriesText')} />}>
        {(list) => (
          <Table
            caption={w('deliveriesList')}
            columns={columns({ endpointId: id, mayResend: !disabledAt, deliveries, reload })}
            rows={list.data}
            rowKey={(delivery) => delivery.id}
          />
        )}
      </LoadedList>
    </Section>
  )
}

type Shown = { endpointId: string; mayResend: boolean; deliveries: Resource<{ data: Delivery[] }>; reload: () => Promise<void> }

const columns = ({ endpointId, mayResend, reload }: Shown): readonly Column<Delivery>[] => [
  {
    key: 'event',
    title: w('event'),
    main: true,
    cell: ({ event, messageId }) => (
      <>
        <code>{event}</code>
        <br />
        <small class="faint">{messageId}</small>
      </>
    ),
  },
  { key: 'status', title: c('status'), cell: ({ status }) => <State of={status} /> },
  { key: 'made', title: w('made'), cell: ({ createdAt }) => <When at={createdAt} /> },
  { key: 'attempts', title: w('attempts'), end: true, cell: ({ attempts }) => attempts },
  { key: 'answer', title: w('lastAnswer'), cell: (delivery) => <Answer of={delivery} /> },
  { key: 'next', title: w('nextAttempt'), cell: ({ nextAttemptAt }) => (nextAttemptAt ? <When at={nextAttemptAt} short /> : '–') },
  {
    key: 'resend',
    title: c('actions'),
    cell: (delivery) => (mayResend ? <Resend endpointId={endpointId} of={delivery} onSent={reload} /> : '–'),
  },
]

const Answer = ({ of: { lastStatus, lastError } }: { of: Delivery }) =>
  lastStatus === null && lastError === null ? (
    <>–</>
  ) : (
    <>
      {lastStatus !== null && <code>{lastStatus}</code>}{' '}
      {lastError !== null && <bdi>{lastError === 'gave way' ? w('gaveWay') : lastError}</bdi>}
    </>
  )

function Resend({ endpointId, of: { id, event, updatedAt }, onSent }: { endpointId: string; of: Delivery; onSent: () => Promise<void> }) {
  const once = useIntention()
  async function resend(): Promise<void> {
    const path = { id: endpointId, deliveryId: id }
    await once([id, updatedAt], (key) =>
      api.POST('/webhook-endpoints/{id}/deliveries/{deliveryId}/resend', { params: { path, header: { 'idempotency-key': key } } }),
    )
    notify(w('resent'))
    await onSent()
  }
  return (
    <Button kind="quiet" onPress={resend}>
      {w('resend')}
      <span class="unseen">: {event}</span>
    </Button>
  )
}
