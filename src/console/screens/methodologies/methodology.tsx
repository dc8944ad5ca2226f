import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, type Schema, versioned } from '../../lib/api.ts'
import { useIntention } from '../../lib/intention.ts'
import { useQuery } from '../../lib/query.ts'
import { useResource } from '../../lib/resource.ts'
import { net } from '../../lib/shop.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { c, stateName } from '../../lib/words/common.ts'
import { Copyable, Facts, State, When } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { Empty, Loaded, Page, Section } from '../../ui/page.tsx'
import { notify } from '../../lib/notices.ts'
import type { StatusOf } from '../registries/registry.domain.ts'
import { Moves } from '../registries/standing.tsx'
import { w } from '../registries/words.ts'

type Held = { readonly data: Schema<'AdminMethodology'>; readonly etag: string }
type Lender = Schema<'AdminLender'>

/** A version of a methodology, or a new one. */
export default function OneMethodology() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <New /> : <Known id={id} />
}

const back = () => ({ href: net('methodologies'), text: w('methodologies') })
/** As many as the API answers at once. */
const lendersMax = 100

function New() {
  const lenders = useResource('lenders', (signal) => ok(api.GET('/admin/lenders', { params: { query: { limit: lendersMax } }, signal })))
  return (
    <Page title={w('newMethodology')} back={back()}>
      <Loaded of={lenders}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              icon="book"
              title={w('noLenders')}
              text={w('noLendersText')}
              action={
                <ButtonLink icon="plus" href={net('lenders', 'new')}>
                  {w('newLender')}
                </ButtonLink>
              }
            />
          ) : (
            <NewForm lenders={data} />
          )
        }
      </Loaded>
    </Page>
  )
}

function NewForm({ lenders }: { lenders: readonly Lender[] }) {
  const { route } = useLocation()
  const once = useIntention()
  const asked = useQuery().of['lenderId']
  const first = lenders.find(({ id }) => id === asked) ?? lenders[0]
  const draft = useDraft('new', { lenderId: first?.id ?? '', version: '', contentHash: '', documentUrl: '' })
  async function create(): Promise<void> {
    const typed = draft.now()
    const body = { ...typed, contentHash: typed.contentHash.trim(), documentUrl: typed.documentUrl.trim() }
    const { id, version } = await once(body, (key) =>
      ok(api.POST('/admin/methodologies', { params: { header: { 'idempotency-key': key } }, body })),
    )
    draft.reset(draft.now())
    notify(w('registered', { name: version }))
    route(net('methodologies', id), true)
  }
  return (
    <Section hint={w('supersedes')}>
      <Form onSubmit={create} submit={w('register')} dirty={draft.dirty}>
        <SelectField
          label={w('lender')}
          bind={draft.of.lenderId}
          options={lenders.map(({ id, displayName, status }) => [id, `${displayName} · ${stateName(status)}`] as const)}
        />
        <TextField label={w('version')} bind={draft.of.version} max={100} required />
        <TextField label={w('contentHash')} bind={draft.of.contentHash} max={66} required code placeholder="0x…" hint={w('hashHint')} />
        <TextField label={w('documentUrl')} bind={draft.of.documentUrl} type="url" max={2048} required code placeholder="https://…" />
      </Form>
    </Section>
  )
}

function Known({ id }: { id: string }) {
  const read = (signal?: AbortSignal): Promise<Held> =>
    versioned(api.GET('/admin/methodologies/{id}', { params: { path: { id } }, ...(signal ? { signal } : {}) }))
  const methodology = useResource(id, read)
  const held = methodology.data.value
  async function move(status: StatusOf<'methodology'>, { etag }: Held): Promise<boolean> {
    const saved = await saveVersioned(etag, {
      save: (version) =>
        versioned(api.PATCH('/admin/methodologies/{id}', { params: { path: { id }, header: ifMatch(version) }, body: { status } })),
      theirs: read,
      differences: (now) => [[c('status'), stateName(status), stateName(now.status)]],
      onTheirs: methodology.put,
    })
    if (saved) methodology.put(saved)
    return saved !== undefined
  }
  return (
    <Page
      title={held?.data.version ?? w('methodology')}
      back={back()}
      subtitle={held && <State of={held.data.status} />}
      actions={
        held && <Moves of="methodology" status={held.data.status} name={held.data.version} onMove={(status) => move(status, held)} />
      }
    >
      <Loaded of={methodology}>
        {({ data }) => (
          <Section title={w('record')}>
            <Facts
              of={[
                [
                  w('lender'),
                  <a key="lender" href={net('lenders', data.lenderId)}>
                    {data.lenderId}
                  </a>,
                ],
                [w('contentHash'), <Copyable key="hash" text={data.contentHash} label={w('contentHash')} />],
                [w('documentUrl'), <Document key="document" url={data.documentUrl} />],
                [w('registeredAt'), <When key="at" at={data.registeredAt} />],
                [w('changedAt'), <When key="changed" at={data.updatedAt} />],
                ['ID', <Copyable key="id" text={data.id} label="ID" />],
              ]}
            />
            <div class="row">
              <ButtonLink href={pathWith(net('audit'), { subject: data.id })}>{w('audit')}</ButtonLink>
            </div>
          </Section>
        )}
      </Loaded>
    </Page>
  )
}

/** A link only where it is one. */
const Document = ({ url }: { url: string }) =>
  /^https:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer">
      <bdi>{url}</bdi>
    </a>
  ) : (
    <bdi>{url}</bdi>
  )
