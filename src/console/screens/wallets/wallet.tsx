import { useLocation, useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, pathWith, type Schema, versioned } from '../../lib/api/api.ts'
import { useIntention } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { type EditedDraft, useDraft, useRecordDraft } from '../../lib/forms/use-draft.ts'
import { c } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { net } from '../../lib/session/current-shop.ts'
import { Copyable } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Form, saveRecord } from '../../ui/form.tsx'
import { Loaded, Page, Section } from '../../ui/page.tsx'
import { w } from '../registries/i18n.ts'
import { noWallet, walletBody, walletRow } from '../registries/registry.domain.ts'

type Typed = { address: string; from: string; to: string }
type Held = { readonly data: Schema<'PlatformWallet'>; readonly etag: string }

/** A wallet of the platform, or a new one. */
export default function OneWallet() {
  const id = useRoute().params['id'] ?? 'new'
  return id === 'new' ? <New /> : <Known id={id} />
}

const back = () => ({ href: net('wallets'), text: w('platformWallets') })

const WalletFields = ({ of }: { of: EditedDraft<Typed>['of'] }) => (
  <>
    <TextField label={w('address')} bind={of.address} max={42} required code placeholder="0x…" />
    <div class="fields">
      <TextField label={w('fromUtc')} bind={of.from} type="datetime-local" hint={w('fromHint')} />
      <TextField label={w('toUtc')} bind={of.to} type="datetime-local" hint={w('toHint')} />
    </div>
  </>
)

function New() {
  const { route } = useLocation()
  const once = useIntention()
  const draft = useDraft<Typed>('new', noWallet)
  async function create(): Promise<void> {
    const body = walletBody(draft.now(), w('badMoment'))
    const { id, address } = await once(body, (key) =>
      ok(api.POST('/admin/platform-wallets', { params: { header: { 'idempotency-key': key } }, body })),
    )
    draft.reset(draft.now())
    notify(w('registered', { name: address }))
    route(net('wallets', id), true)
  }
  return (
    <Page title={w('newWallet')} back={back()}>
      <Section hint={w('platformWalletsText')}>
        <Form onSubmit={create} submit={w('register')} dirty={draft.dirty}>
          <WalletFields of={draft.of} />
        </Form>
      </Section>
    </Page>
  )
}

function Known({ id }: { id: string }) {
  const read = (signal?: AbortSignal): Promise<Held> =>
    versioned(api.GET('/admin/platform-wallets/{id}', { params: { path: { id } }, ...(signal ? { signal } : {}) }))
  const wallet = useResource(id, read)
  return (
    <Page title={w('platformWallet')} back={back()}>
      <Loaded of={wallet}>{(of) => <Standing of={of} wallet={wallet} read={read} />}</Loaded>
    </Page>
  )
}

const typedOf = (wallet: Held['data']): Typed => {
  const { address, from, to } = walletRow(wallet)
  return { address, from, to }
}

function Standing({ of, wallet, read }: { of: Held; wallet: Resource<Held>; read: () => Promise<Held> }) {
  const { data } = of
  const draft = useRecordDraft(of, typedOf)
  async function save(): Promise<void> {
    const begun = draft.begun()
    const body = walletBody({ ...draft.now(), was: begun.data }, w('badMoment'))
    const isSaved = await saveRecord(wallet, begun.etag, draft, {
      save: (version) =>
        versioned(api.PATCH('/admin/platform-wallets/{id}', { params: { path: { id: data.id }, header: ifMatch(version) }, body })),
      theirs: read,
      differences: (now) => [
        [w('address'), body.address, now.address],
        [w('from'), body.from ?? now.from, now.from],
        [w('to'), body.to ?? w('open'), now.to ?? w('open')],
      ],
    })
    if (isSaved) notify(c('saved'))
  }
  return (
    <>
      <Section title={w('record')} hint={w('walletChange')}>
        <Form onSubmit={save} dirty={draft.dirty} keepsTyping>
          <WalletFields of={draft.of} />
        </Form>
      </Section>
      <Section title="ID">
        <Copyable text={data.id} label="ID" />
        <div class="row">
          <ButtonLink href={pathWith(net('audit'), { subject: data.id })}>{w('audit')}</ButtonLink>
        </div>
      </Section>
    </>
  )
}
