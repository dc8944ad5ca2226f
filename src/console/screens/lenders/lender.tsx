import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from '../registries/i18n.ts'
import { type StatusOf, type WalletRow, walletBodies, walletRow, walletsChange, walletsText } from '../registries/registry.domain.ts'
import { RecordPage, StatusHistory } from '../registries/status.tsx'
import { WalletsField } from '../registries/wallets-field.tsx'

type Lender = Schema<'AdminLender'>
type LenderText = { displayName: string; wallets: readonly WalletRow[] }

/** Creates or edits a lender. */
export default function OneLender() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <NewLender /> : <ExistingLender id={id} />
}

const backLink = () => ({ href: operatorPath('lenders'), text: t('lenders') })

function NewLender() {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const draft = useDraft<LenderText>('new', { displayName: '', wallets: [] })
  async function create(): Promise<void> {
    const { displayName, wallets } = draft.values()
    const body = { displayName, wallets: walletBodies(wallets, t('badMoment')) }
    const { id } = await sendOnce(body, (header) => ok(api.POST('/admin/lenders', { params: { header }, body })))
    draft.reset(draft.values())
    notify(t('registered', { name: truncate(displayName) }))
    route(operatorPath('lenders', id), true)
  }
  return (
    <Page title={t('newLender')} back={backLink()}>
      <Section>
        <Form onSubmit={create} submit={t('register')} dirty={draft.isDirty}>
          <TextField label={common('name')} bind={draft.fields.displayName} max={200} required hint={t('beginsPending')} />
          <WalletsField bind={draft.fields.wallets} />
        </Form>
      </Section>
    </Page>
  )
}

function ExistingLender({ id }: { id: string }) {
  const lender = useResource(id, (signal) => readVersioned(api.GET('/admin/lenders/{id}', { params: { path: { id } }, signal })))
  return (
    <RecordPage
      registry="lender"
      resource={lender}
      kind={t('lender')}
      nameOf={({ displayName }) => displayName}
      back={backLink()}
      saveOptions={saveOptions}
    >
      {(version) => <LenderForm current={version} lender={lender} />}
    </RecordPage>
  )
}

type LenderChange = { displayName?: string; wallets?: ReturnType<typeof walletBodies>; status?: StatusOf<'lender'> }

/** Returns how a change of the record is saved. */
const saveOptions = ({ data }: Versioned<Lender>, change: LenderChange) => ({
  save: (version: string | undefined): Promise<Versioned<Lender>> =>
    readVersioned(api.PATCH('/admin/lenders/{id}', { params: { path: { id: data.id }, header: ifMatch(version) }, body: change })),
  differences: (now: Lender) =>
    [
      [common('status'), stateName(change.status ?? data.status), stateName(now.status)],
      [common('name'), change.displayName ?? data.displayName, now.displayName],
      [t('wallets'), walletsText(change.wallets ?? data.wallets), walletsText(now.wallets)],
    ] as const,
})

const textOf = ({ displayName, wallets }: Lender): LenderText => ({ displayName, wallets: wallets.map(walletRow) })

function LenderForm({ current, lender }: { current: Versioned<Lender>; lender: Resource<Versioned<Lender>> }) {
  const { data } = current
  const editor = useRecordEditor(lender, current, textOf)
  async function save(): Promise<void> {
    const { displayName, wallets } = editor.values()
    const change = { displayName, ...walletsChange(wallets, editor.base().data.wallets, t('badMoment')) }
    if (await editor.save(saveOptions(editor.base(), change))) notify(common('saved'))
  }
  return (
    <div class="columns">
      <Section title={t('record')}>
        <Form onSubmit={save} dirty={editor.isDirty} isEditableWhileSending>
          <TextField label={common('name')} bind={editor.fields.displayName} max={200} required />
          <WalletsField bind={editor.fields.wallets} />
        </Form>
      </Section>
      <div class="stack">
        <Section title="ID">
          <CopyableText text={data.id} label="ID" />
          <div class="row">
            <ButtonLink href={pathWith(operatorPath('methodologies'), { lenderId: data.id })} text={common('methodologies')} />
            <ButtonLink href={pathWith(operatorPath('audit'), { subject: data.id })} text={common('auditLink')} />
          </div>
        </Section>
        <StatusHistory history={data.statusHistory} />
      </div>
    </div>
  )
}
