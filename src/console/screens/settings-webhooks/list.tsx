import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { CreateLink } from '../../ui/button.tsx'
import { ChoicesField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ListTable } from '../../ui/list-view.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, Section } from '../../ui/page.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import type { Column } from '../../ui/table.tsx'
import { type EventName, eventNames } from './events.ts'
import { EndpointHealth } from './health.tsx'
import { t } from './i18n.ts'

type Endpoint = Schema<'WebhookEndpoint'>
type CreatedEndpoint = Schema<'NewWebhookEndpoint'>

const columns = (): readonly Column<Endpoint>[] => [
  { title: t('url'), main: true, cell: ({ url }) => <bdi>{url}</bdi> },
  { title: common('status'), cell: (endpoint) => <EndpointHealth endpoint={endpoint} /> },
  { title: t('events'), cell: ({ events }) => t('eventsCount', { n: events.length }) },
  { title: t('since'), cell: ({ createdAt }) => <Moment at={createdAt} /> },
]

/** The shop's webhook endpoints. */
export default function Webhooks() {
  const query = useQuery()
  const [created, setCreated] = useState<CreatedEndpoint | undefined>(undefined)
  const endpoints = useResource(String(query.page), (signal) =>
    ok(api.GET('/webhook-endpoints', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  async function showSecret(endpoint: CreatedEndpoint): Promise<void> {
    setCreated(endpoint)
    query.set({ new: undefined }, { replace: true })
    await endpoints.reload()
  }
  return (
    <Page
      title={t('title')}
      subtitle={t('subtitle')}
      actions={!query.values['new'] && <CreateLink href={query.href({ new: '1' })} text={t('add')} />}
    >
      {created && (
        <SecretOnce
          title={t('secret')}
          text={t('secretText')}
          secret={created.secret}
          confirmText={common('secretKept')}
          onConfirm={() => setCreated(undefined)}
        />
      )}
      {query.values['new'] && <AddEndpoint onCreated={showSecret} />}
      <ListTable
        resource={endpoints}
        query={query}
        empty={<EmptyState icon="chain" title={t('none')} text={t('noneText')} />}
        caption={t('title')}
        columns={columns()}
        href={({ id }) => shopPath('settings', 'webhooks', id)}
      />
    </Page>
  )
}

function AddEndpoint({ onCreated }: { onCreated: (endpoint: CreatedEndpoint) => Promise<void> }) {
  const url = useSignal('')
  const events = useSignal<readonly EventName[]>([])
  const sendOnce = useIdempotentSend()
  async function add(): Promise<void> {
    if (events.value.length === 0) throw new Error(t('eventsNone'))
    const body = { url: url.value.trim(), events: [...events.value] }
    const endpoint = await sendOnce(body, (header) => ok(api.POST('/webhook-endpoints', { params: { header }, body, cache: 'no-store' })))
    url.value = ''
    events.value = []
    await onCreated(endpoint)
  }
  return (
    <Section title={t('add')}>
      <Form onSubmit={add} submit={t('add')} dirty={url.value !== '' || events.value.length > 0} label={t('add')}>
        <TextField bind={url} name="url" label={t('url')} hint={t('urlHint')} type="url" max={2_048} placeholder="https://" required code />
        <ChoicesField bind={events} label={t('events')} options={eventNames.map((name) => [name, name])} />
      </Form>
    </Section>
  )
}
