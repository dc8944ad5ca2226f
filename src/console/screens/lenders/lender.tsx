import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { type RecordDraft, useDraft, useRecordDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { operatorPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form, saveRecord } from '../../ui/form.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from '../registries/i18n.ts'
import { type StatusOf, type WalletRow, walletBodies, walletRow } from '../registries/registry.domain.ts'
import { History, Moves } from '../registries/status.tsx'
import { WalletsField } from '../registries/wallets-field.tsx'

type Lender = Schema<'AdminLender'>
type Held = { readonly data: Lender; readonly etag: string }
type Typed = { displayName: string; wallets: readonly WalletRow[] }

/** A lender, or a new one. */
export default function OneLender() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <New /> : <Known id={id} />
}

const back = () => ({ href: operatorPath('lenders'), text: t('lenders') })

function New() {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const draft = useDraft<Typed>('new', { displayName: '', wallets: [] })
  async function create(): Promise<void> {
    const { displayName, wallets } = draft.now()
    const body = { displayName, wallets: walletBodies(wallets, t('badMoment')) }
    const { id } = await sendOnce(body, (key) => ok(api.POST('/admin/lenders', { params: { header: { 'idempotency-key': key } }, body })))
    draft.reset(draft.now())
    notify(t('registered', { name: truncate(displayName) }))
    route(operatorPath('lenders', id), true)
  }
  return (
    <Page title={t('newLender')} back={back()}>
      <Section>
        <Form onSubmit={create} submit={t('register')} dirty={draft.dirty}>
          <TextField label={t('name')} bind={draft.of.displayName} max={200} required hint={t('beginsPending')} />
          <WalletsField bind={draft.of.wallets} />
        </Form>
      </Section>
    </Page>
  )
}

function Known({ id }: { id: string }) {
  const read = (signal?: AbortSignal): Promise<Held> =>
    readVersioned(api.GET('/admin/lenders/{id}', { params: { path: { id } }, ...(signal ? { signal } : {}) }))
  const lender = useResource(id, read)
  const held = lender.data.value
  return (
    <Page
      title={held?.data.displayName ?? t('lender')}
      back={back()}
      subtitle={held && <StatusBadge of={held.data.status} />}
      actions={
        held && (
          <Moves
            of="lender"
            status={held.data.status}
            name={held.data.displayName}
            onMove={(status) => send(lender, held, { status }, { read })}
          />
        )
      }
    >
      <ResourceView of={lender}>{(of) => <Standing of={of} lender={lender} read={read} />}</ResourceView>
    </Page>
  )
}

type Change = { displayName?: string; wallets?: ReturnType<typeof walletBodies>; status?: StatusOf<'lender'> }
const walletText = (wallets: readonly { address: string }[]) => wallets.map(({ address }) => address).join(' ')

/** Sends a change of that version, and shows what came of it. @returns whether it was done */
async function send(
  lender: Resource<Held>,
  { data, etag }: Held,
  change: Change,
  { read, draft }: { read: () => Promise<Held>; draft?: RecordDraft<Held['data'], Typed> },
): Promise<boolean> {
  return saveRecord(lender, etag, draft, {
    save: (version) =>
      readVersioned(api.PATCH('/admin/lenders/{id}', { params: { path: { id: data.id }, header: ifMatch(version) }, body: change })),
    theirs: read,
    differences: (now) =>
      [
        [common('status'), stateName(change.status ?? data.status), stateName(now.status)],
        [t('name'), change.displayName ?? data.displayName, now.displayName],
        [t('wallets'), walletText(change.wallets ?? data.wallets), walletText(now.wallets)],
      ] as const,
  })
}

const typedOf = ({ displayName, wallets }: Lender): Typed => ({ displayName, wallets: wallets.map(walletRow) })

function Standing({ of, lender, read }: { of: Held; lender: Resource<Held>; read: () => Promise<Held> }) {
  const { data } = of
  const draft = useRecordDraft(of, typedOf)
  async function save(): Promise<void> {
    const { displayName, wallets } = draft.now()
    const change = {
      displayName,
      ...(JSON.stringify(wallets) === JSON.stringify(typedOf(draft.begun().data).wallets)
        ? {}
        : { wallets: walletBodies(wallets, t('badMoment')) }),
    }
    if (await send(lender, draft.begun(), change, { read, draft })) notify(common('saved'))
  }
  return (
    <div class="columns">
      <Section title={t('record')}>
        <Form onSubmit={save} dirty={draft.dirty} keepsTyping>
          <TextField label={t('name')} bind={draft.of.displayName} max={200} required />
          <WalletsField bind={draft.of.wallets} />
        </Form>
      </Section>
      <div class="stack">
        <Section title="ID">
          <CopyableText text={data.id} label="ID" />
          <div class="row">
            <ButtonLink href={pathWith(operatorPath('methodologies'), { lenderId: data.id })}>{t('methodologies')}</ButtonLink>
            <ButtonLink href={pathWith(operatorPath('audit'), { subject: data.id })}>{t('audit')}</ButtonLink>
          </div>
        </Section>
        <History of={data.statusHistory} />
      </div>
    </div>
  )
}
