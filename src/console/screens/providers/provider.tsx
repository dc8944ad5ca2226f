import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from '../registries/i18n.ts'
import { type StatusOf, type WalletRow, walletBodies, walletRow, walletsChange, walletsText } from '../registries/registry.domain.ts'
import { RecordPage, StatusHistory } from '../registries/status.tsx'
import { WalletsField } from '../registries/wallets-field.tsx'

type Provider = Schema<'ServiceProvider'>
type Archetype = Provider['archetype']
type ProviderText = { displayName: string; archetype: Archetype; wallets: readonly WalletRow[] }

const archetypes = ['generic', 'warehouse', 'third_party_logistics', 'cross_border'] as const satisfies readonly Archetype[]
const archetypeOptions = () => archetypes.map((archetype) => [archetype, t(`archetype.${archetype}`)] as const)

/** Creates or edits a service provider. */
export default function OneProvider() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <NewProvider /> : <ExistingProvider id={id} />
}

const backLink = () => ({ href: operatorPath('providers'), text: t('providers') })

function NewProvider() {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const [created, setCreated] = useState<Schema<'CreatedServiceProvider'> | undefined>(undefined)
  const draft = useDraft<ProviderText>('new', { displayName: '', archetype: 'generic', wallets: [] })
  async function create(): Promise<void> {
    const { wallets, ...rest } = draft.values()
    const body = { ...rest, wallets: walletBodies(wallets, t('badMoment')) }
    const provider = await sendOnce(body, (header) => ok(api.POST('/admin/service-providers', { params: { header }, body })))
    draft.reset(draft.values())
    setCreated(provider)
  }
  if (created)
    return (
      <Page key="made" title={created.displayName} back={backLink()} subtitle={<StatusBadge status={created.status} />}>
        <SecretOnce
          title={t('secret')}
          text={t('secretOnce')}
          secret={created.webhookSecret}
          confirmText={t('goOn')}
          onConfirm={() => route(operatorPath('providers', created.id), true)}
        />
        <IngestionUrl id={created.id} />
      </Page>
    )
  return (
    <Page key="new" title={t('newProvider')} back={backLink()}>
      <Section>
        <Form onSubmit={create} submit={t('register')} dirty={draft.isDirty}>
          <TextField label={common('name')} bind={draft.fields.displayName} max={200} required hint={t('beginsPending')} />
          <SelectField label={t('archetype')} bind={draft.fields.archetype} options={archetypeOptions()} />
          <WalletsField bind={draft.fields.wallets} />
        </Form>
      </Section>
    </Page>
  )
}

const IngestionUrl = ({ id }: { id: string }) => (
  <Section title={t('ingestion')} hint={t('ingestionText')}>
    <CopyableText text={`${location.origin}/webhooks/ingestion/${id}`} label={t('ingestion')} />
  </Section>
)

function ExistingProvider({ id }: { id: string }) {
  const provider = useResource(id, (signal) =>
    readVersioned(api.GET('/admin/service-providers/{id}', { params: { path: { id } }, signal })),
  )
  return (
    <RecordPage
      registry="provider"
      resource={provider}
      kind={t('provider')}
      nameOf={({ displayName }) => displayName}
      back={backLink()}
      saveOptions={saveOptions}
    >
      {(version) => <ProviderForm current={version} provider={provider} />}
    </RecordPage>
  )
}

type ProviderChange = {
  displayName?: string
  archetype?: Archetype
  wallets?: ReturnType<typeof walletBodies>
  status?: StatusOf<'provider'>
}

/** Returns how a change of the record is saved. */
const saveOptions = ({ data }: Versioned<Provider>, change: ProviderChange) => ({
  save: (version: string | undefined): Promise<Versioned<Provider>> =>
    readVersioned(
      api.PATCH('/admin/service-providers/{id}', { params: { path: { id: data.id }, header: ifMatch(version) }, body: change }),
    ),
  differences: (now: Provider) =>
    [
      [common('status'), stateName(change.status ?? data.status), stateName(now.status)],
      [common('name'), change.displayName ?? data.displayName, now.displayName],
      [t('archetype'), t(`archetype.${change.archetype ?? data.archetype}`), t(`archetype.${now.archetype}`)],
      [t('wallets'), walletsText(change.wallets ?? data.wallets), walletsText(now.wallets)],
    ] as const,
})

const textOf = ({ displayName, archetype, wallets }: Provider): ProviderText => ({
  displayName,
  archetype,
  wallets: wallets.map(walletRow),
})

function ProviderForm({ current, provider }: { current: Versioned<Provider>; provider: Resource<Versioned<Provider>> }) {
  const { data, etag } = current
  const sendOnce = useIdempotentSend()
  const [rotated, setRotated] = useState<Schema<'RotatedSecret'> | undefined>(undefined)
  const editor = useRecordEditor(provider, current, textOf)
  async function save(): Promise<void> {
    const { wallets, ...rest } = editor.values()
    const change = { ...rest, ...walletsChange(wallets, editor.base().data.wallets, t('badMoment')) }
    if (await editor.save(saveOptions(editor.base(), change))) notify(common('saved'))
  }
  async function rotate(): Promise<void> {
    const isConfirmed = await confirm({
      title: t('rotateOf', { name: truncate(data.displayName) }),
      body: <p>{t('rotateText')}</p>,
      action: t('rotate'),
      danger: true,
    })
    if (!isConfirmed) return
    // A repeated request would invalidate the first secret, so the key does not depend on the version.
    try {
      const newSecret = await sendOnce('secret', (header) =>
        ok(
          api.POST('/admin/service-providers/{id}/webhook-secret', {
            params: { path: { id: data.id }, header: { ...header, ...ifMatch(etag) } },
          }),
        ),
      )
      setRotated(newSecret)
    } finally {
      // After a version conflict the present record is shown.
      await provider.reload()
    }
  }
  return (
    <>
      {rotated && (
        <SecretOnce
          key={rotated.webhookSecret}
          title={t('secret')}
          text={`${t('secretOnce')} ${t('previousUntil', { at: moment(rotated.previousUntil) })}`}
          secret={rotated.webhookSecret}
          confirmText={t('goOn')}
          onConfirm={() => setRotated(undefined)}
        />
      )}
      <div class="columns">
        <Section title={t('record')}>
          <Form onSubmit={save} dirty={editor.isDirty} isEditableWhileSending>
            <TextField label={common('name')} bind={editor.fields.displayName} max={200} required />
            <SelectField label={t('archetype')} bind={editor.fields.archetype} options={archetypeOptions()} />
            <WalletsField bind={editor.fields.wallets} />
          </Form>
        </Section>
        <div class="stack">
          <IngestionUrl id={data.id} />
          <Section title={t('messages')} actions={<Button onPress={rotate} text={t('rotate')} />}>
            <FactList
              facts={[
                [t('messages'), number(data.successfulIngestionCount)],
                [t('lastMessage'), data.lastSuccessfulIngestionAt && <Moment at={data.lastSuccessfulIngestionAt} />],
                ['ID', <CopyableText key="id" text={data.id} label="ID" />],
              ]}
            />
            <div class="row">
              <ButtonLink href={pathWith(operatorPath('audit'), { subject: data.id })} text={common('auditLink')} />
            </div>
          </Section>
          <StatusHistory history={data.statusHistory} />
        </div>
      </div>
    </>
  )
}
