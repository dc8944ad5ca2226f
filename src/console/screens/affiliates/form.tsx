import { useSignal } from '@preact/signals'
import { api, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'
import { type FormDraft, useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Form, saveVersioned } from '../../ui/form.tsx'
import { ResourceView } from '../../ui/page.tsx'
import { t } from './i18n.ts'

type Affiliate = Schema<'Affiliate'>
type AffiliateText = { name: string; code: string; rate: string; active: boolean }
type Body = Pick<Affiliate, 'name' | 'code' | 'rateBps' | 'active'>
type VersionedAffiliate = { data: Affiliate; etag: string }

const textOf = ({ name, code, rateBps, active }: Affiliate): AffiliateText => ({ name, code, rate: percentText(rateBps), active })

/** @throws Error that names the wrong field */
function bodyOf({ name, code, rate, active }: AffiliateText): Body {
  const rateBps = parsePercent(rate)
  if (rateBps === undefined) throw new Error(common('notPercent'))
  return { name: name.trim(), code: code.trim(), rateBps, active }
}

const Fields = ({ of: { of }, isNew, wrong }: { of: FormDraft<AffiliateText>; isNew?: boolean; wrong: boolean }) => (
  <>
    <TextField bind={of.name} label={t('name')} required max={255} />
    <TextField bind={of.code} label={t('code')} hint={t(isNew ? 'codeHint' : 'codeChangeHint')} required max={64} code />
    <TextField
      bind={of.rate}
      label={t('ratePercent')}
      hint={t(isNew ? 'rateHint' : 'rateChangeHint')}
      inputMode="decimal"
      required
      code
      error={wrong ? common('notPercent') : undefined}
    />
    {!isNew && <CheckField bind={of.active} label={t('active')} hint={t('activeHint')} />}
  </>
)

export function NewAffiliate({ onSaved }: { onSaved: () => unknown }) {
  const draft = useDraft<AffiliateText>('new', { name: '', code: '', rate: '', active: true })
  const wrong = useSignal(false)
  const sendOnce = useIdempotentSend()
  async function create() {
    wrong.value = parsePercent(draft.now().rate) === undefined
    const { active: _, ...body } = bodyOf(draft.now())
    await sendOnce(body, (key) => ok(api.POST('/affiliates', { params: { header: { 'idempotency-key': key } }, body })))
    draft.reset(draft.now())
    notify(t('made'))
    await onSaved()
  }
  return (
    <Form onSubmit={create} submit={common('create')} dirty={draft.dirty} label={t('add')}>
      <Fields of={draft} isNew wrong={wrong.value} />
    </Form>
  )
}

const read = (id: string, signal?: AbortSignal) =>
  readVersioned(api.GET('/affiliates/{id}', { params: { path: { id } }, ...(signal && { signal }) })) as Promise<VersionedAffiliate>

export function EditAffiliate({ id, onSaved }: { id: string; onSaved: () => unknown }) {
  const affiliate = useResource(id, (signal) => read(id, signal))
  return <ResourceView of={affiliate}>{(held) => <EditForm of={held} onTheirs={affiliate.put} onSaved={onSaved} />}</ResourceView>
}

function EditForm({
  of: { data, etag },
  onTheirs,
  onSaved,
}: {
  of: VersionedAffiliate
  onTheirs: (held: VersionedAffiliate) => void
  onSaved: () => unknown
}) {
  const draft = useDraft(data.id, textOf(data))
  const wrong = useSignal(false)
  const sendOnce = useIdempotentSend()
  async function save() {
    wrong.value = parsePercent(draft.now().rate) === undefined
    const sent = draft.now()
    const body = bodyOf(sent)
    const saved = await saveVersioned(etag, {
      save: (version) =>
        sendOnce([body, version], (key) =>
          ok(
            api.PATCH('/affiliates/{id}', {
              params: { path: { id: data.id }, header: { 'idempotency-key': key, ...(version && { 'if-match': version }) } },
              body,
            }),
          ),
        ),
      theirs: () => read(data.id),
      differences: (theirs) => differences(body, theirs),
      onTheirs(now) {
        draft.reset(textOf(now.data))
        onTheirs(now)
      },
    })
    if (!saved) return
    draft.saved(textOf(saved), sent)
    notify(common('saved'))
    await onSaved()
  }
  return (
    <Form onSubmit={save} dirty={draft.dirty} label={t('edit')}>
      <Fields of={draft} wrong={wrong.value} />
    </Form>
  )
}

function differences(mine: Body, theirs: Affiliate): readonly (readonly [string, string, string])[] {
  const rows = (of: Body): readonly (readonly [string, string])[] => [
    [t('name'), of.name],
    [t('code'), of.code],
    [t('rate'), percentOfBps(of.rateBps)],
    [common('status'), stateName(of.active ? 'ACTIVE' : 'DISABLED')],
  ]
  const there = rows(theirs)
  return rows(mine).flatMap(([name, yours], place) => {
    const now = there[place]?.[1] ?? ''
    return yours === now ? [] : [[name, yours, now] as const]
  })
}
