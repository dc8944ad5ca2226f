import { useSignal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, readVersioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { t } from '../registries/i18n.ts'
import { RecordPage } from '../registries/status.tsx'
import { lenderChoice, lenderFinder } from '../repayments/record-search.ts'

/** Creates or shows a methodology version. */
export default function OneMethodology() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <NewMethodology /> : <ExistingMethodology id={id} />
}

const backLink = () => ({ href: operatorPath('methodologies'), text: common('methodologies') })

/** Reads the lender of the URL; without one, whether any lender exists. */
async function readLender(lenderId: string | undefined, signal: AbortSignal): Promise<{ choices: readonly Choice[]; isNone: boolean }> {
  if (lenderId) {
    const lender = await ok(api.GET('/admin/lenders/{id}', { params: { path: { id: lenderId } }, signal }))
    return { choices: [lenderChoice(lender)], isNone: false }
  }
  const { total } = await ok(api.GET('/admin/lenders', { params: { query: { limit: 1 } }, signal }))
  return { choices: [], isNone: total === 0 }
}

function NewMethodology() {
  const lenderId = useQuery().values['lenderId']
  const lenders = useResource(lenderId ?? '', (signal) => readLender(lenderId, signal))
  return (
    <Page title={t('newMethodology')} back={backLink()}>
      <ResourceView resource={lenders}>
        {({ choices, isNone }) =>
          isNone ? (
            <EmptyState
              icon="book"
              title={t('noLenders')}
              text={t('noLendersText')}
              action={<ButtonLink icon="plus" href={operatorPath('lenders', 'new')} text={t('newLender')} />}
            />
          ) : (
            <NewForm key={lenderId} initialLender={choices} />
          )
        }
      </ResourceView>
    </Page>
  )
}

function NewForm({ initialLender }: { initialLender: readonly Choice[] }) {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const findLenders = useMemo(lenderFinder, [])
  const lender = useSignal(initialLender)
  const [wasSubmitted, setSubmitted] = useState(false)
  const draft = useDraft('new', { version: '', contentHash: '', documentUrl: '' })
  const lenderId = lender.value[0]?.id
  const missing = wasSubmitted && lenderId === undefined ? common('required') : undefined
  async function create(): Promise<void> {
    setSubmitted(true)
    if (lenderId === undefined) throw new Error(`${t('lender')}: ${common('required')}`)
    const input = draft.values()
    const body = { ...input, lenderId, contentHash: input.contentHash.trim(), documentUrl: input.documentUrl.trim() }
    const { id, version } = await sendOnce(body, (header) => ok(api.POST('/admin/methodologies', { params: { header }, body })))
    notify(t('registered', { name: truncate(version) }))
    route(operatorPath('methodologies', id), true)
  }
  return (
    <Section hint={t('supersedes')}>
      <Form onSubmit={create} submit={t('register')} dirty={draft.isDirty || lenderId !== initialLender[0]?.id}>
        <PickField label={t('lender')} bind={lender} max={1} find={findLenders} error={missing} />
        <TextField label={t('version')} bind={draft.fields.version} max={100} required />
        <TextField label={t('contentHash')} bind={draft.fields.contentHash} max={66} required code placeholder="0x…" hint={t('hashHint')} />
        <TextField label={t('documentUrl')} bind={draft.fields.documentUrl} type="url" max={2048} required code placeholder="https://…" />
      </Form>
    </Section>
  )
}

function ExistingMethodology({ id }: { id: string }) {
  const methodology = useResource(id, (signal) => readVersioned(api.GET('/admin/methodologies/{id}', { params: { path: { id } }, signal })))
  return (
    <RecordPage
      registry="methodology"
      resource={methodology}
      kind={t('methodology')}
      nameOf={({ version }) => version}
      back={backLink()}
      saveOptions={(_, { status }) => ({
        save: (version) =>
          readVersioned(api.PATCH('/admin/methodologies/{id}', { params: { path: { id }, header: ifMatch(version) }, body: { status } })),
        differences: (now) => [[common('status'), stateName(status), stateName(now.status)]],
        findSaved: (now) => (now.data.status === status ? now : undefined),
      })}
    >
      {({ data }) => (
        <Section title={t('record')}>
          <FactList
            facts={[
              [
                t('lender'),
                <a key="lender" href={operatorPath('lenders', data.lenderId)}>
                  {data.lenderId}
                </a>,
              ],
              [t('contentHash'), <CopyableText key="hash" text={data.contentHash} label={t('contentHash')} />],
              [t('documentUrl'), <DocumentLink key="document" url={data.documentUrl} />],
              [t('registeredAt'), <Moment key="at" at={data.registeredAt} />],
              [t('changedAt'), <Moment key="changed" at={data.updatedAt} />],
              ['ID', <CopyableText key="id" text={data.id} label="ID" />],
            ]}
          />
          <div class="row">
            <ButtonLink href={pathWith(operatorPath('audit'), { subject: data.id })} text={common('auditLink')} />
          </div>
        </Section>
      )}
    </RecordPage>
  )
}

/** Links a URL only if it is HTTPS. */
const DocumentLink = ({ url }: { url: string }) =>
  /^https:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer">
      <bdi>{url}</bdi>
    </a>
  ) : (
    <bdi>{url}</bdi>
  )
