import { useSignal } from '@preact/signals'
import { api, ifMatch, ok, readVersioned, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'
import { type FormDraft, useDraft } from '../../lib/forms/use-draft.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ResourceView } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
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

const Fields = ({ of: { of }, isNew, wrong }: { of: Pick<FormDraft<AffiliateText>, 'of'>; isNew?: boolean; wrong: boolean }) => (
  <>
    <TextField bind={of.name} label={common('name')} required max={255} />
    <TextField bind={of.code} label={common('code')} hint={t(isNew ? 'codeHint' : 'codeChangeHint')} required max={64} code />
    <TextField
      bind={of.rate}
      label={t('ratePercent')}
      hint={t(isNew ? 'rateHint' : 'rateChangeHint')}
      inputMode="decimal"
      required
      code
      error={wrong ? common('notPercent') : undefined}
    />
    {!isNew && <CheckField bind={of.active} label={common('active')} hint={t('activeHint')} />}
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
  return <ResourceView of={affiliate}>{(current) => <EditForm of={current} affiliate={affiliate} onSaved={onSaved} />}</ResourceView>
}

function EditForm({ of, affiliate, onSaved }: { of: VersionedAffiliate; affiliate: Resource<VersionedAffiliate>; onSaved: () => unknown }) {
  const { id } = of.data
  const editor = useRecordEditor(affiliate, of, textOf)
  const wrong = useSignal(false)
  const sendOnce = useIdempotentSend()
  async function save() {
    wrong.value = parsePercent(editor.now().rate) === undefined
    const body = bodyOf(editor.now())
    const saved = await editor.save({
      save: (version) =>
        sendOnce(
          [body, version],
          (key) =>
            readVersioned(
              api.PATCH('/affiliates/{id}', { params: { path: { id }, header: { 'idempotency-key': key, ...ifMatch(version) } }, body }),
            ) as Promise<VersionedAffiliate>,
        ),
      theirs: () => read(id),
      differences: (theirs) => diffRows(affiliateRows(body), affiliateRows(theirs)),
    })
    if (!saved) return
    notify(common('saved'))
    await onSaved()
  }
  return (
    <Form onSubmit={save} dirty={editor.dirty} label={t('edit')}>
      <Fields of={editor} wrong={wrong.value} />
    </Form>
  )
}

const affiliateRows = (of: Body): readonly (readonly [string, string])[] => [
  [common('name'), of.name],
  [common('code'), of.code],
  [t('rate'), percentOfBps(of.rateBps)],
  [common('status'), stateName(of.active ? 'ACTIVE' : 'DISABLED')],
]
