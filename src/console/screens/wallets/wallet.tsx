import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { type FormDraft, useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from '../registries/i18n.ts'
import { blankWallet, walletBody, walletRow } from '../registries/registry.domain.ts'

type WalletText = { address: string; from: string; to: string }

/** Creates or edits a platform wallet. */
export default function OneWallet() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <NewWallet /> : <ExistingWallet id={id} />
}

const backLink = () => ({ href: operatorPath('wallets'), text: t('platformWallets') })

const WalletFields = ({ fields }: { fields: FormDraft<WalletText>['fields'] }) => (
  <>
    <TextField label={common('address')} bind={fields.address} max={42} required code placeholder="0x…" />
    <div class="fields">
      <TextField label={t('fromUtc')} bind={fields.from} type="datetime-local" hint={t('fromHint')} />
      <TextField label={t('toUtc')} bind={fields.to} type="datetime-local" hint={t('toHint')} />
    </div>
  </>
)

function NewWallet() {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const draft = useDraft<WalletText>('new', blankWallet)
  async function create(): Promise<void> {
    const body = walletBody(draft.values(), t('badMoment'))
    const { id, address } = await sendOnce(body, (header) => ok(api.POST('/admin/platform-wallets', { params: { header }, body })))
    draft.reset(draft.values())
    notify(t('registered', { name: address }))
    route(operatorPath('wallets', id), true)
  }
  return (
    <Page title={t('newWallet')} back={backLink()}>
      <Section hint={t('platformWalletsText')}>
        <Form onSubmit={create} submit={t('register')} dirty={draft.isDirty}>
          <WalletFields fields={draft.fields} />
        </Form>
      </Section>
    </Page>
  )
}

function ExistingWallet({ id }: { id: string }) {
  const wallet = useResource(id, (signal) => readVersioned(api.GET('/admin/platform-wallets/{id}', { params: { path: { id } }, signal })))
  return (
    <Page title={t('platformWallet')} back={backLink()}>
      <ResourceView resource={wallet}>{(version) => <WalletForm current={version} wallet={wallet} />}</ResourceView>
    </Page>
  )
}

const textOf = (wallet: Schema<'PlatformWallet'>): WalletText => {
  const { address, from, to } = walletRow(wallet)
  return { address, from, to }
}

function WalletForm({
  current,
  wallet,
}: {
  current: Versioned<Schema<'PlatformWallet'>>
  wallet: Resource<Versioned<Schema<'PlatformWallet'>>>
}) {
  const { data } = current
  const editor = useRecordEditor(wallet, current, textOf)
  async function save(): Promise<void> {
    const body = walletBody({ ...editor.values(), stored: editor.base().data }, t('badMoment'))
    const saved = await editor.save({
      save: (version) =>
        readVersioned(api.PATCH('/admin/platform-wallets/{id}', { params: { path: { id: data.id }, header: ifMatch(version) }, body })),
      differences: (now) => [
        [common('address'), body.address, now.address],
        [t('from'), body.from ?? now.from, now.from],
        [t('to'), body.to ?? t('open'), now.to ?? t('open')],
      ],
    })
    if (saved) notify(common('saved'))
  }
  return (
    <>
      <Section title={t('record')} hint={t('walletChange')}>
        <Form onSubmit={save} dirty={editor.isDirty} isEditableWhileSending>
          <WalletFields fields={editor.fields} />
        </Form>
      </Section>
      <Section title="ID">
        <CopyableText text={data.id} label="ID" />
        <div class="row">
          <ButtonLink href={pathWith(operatorPath('audit'), { subject: data.id })} text={common('auditLink')} />
        </div>
      </Section>
    </>
  )
}
