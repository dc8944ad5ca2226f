import { useSignal } from '@preact/signals'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { percentOfBps } from '../../lib/format/format.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { parsePercent, percentText } from '../../lib/forms/percent.ts'
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

const textOf = ({ name, code, rateBps, active }: Affiliate): AffiliateText => ({ name, code, rate: percentText(rateBps), active })

/** @throws Error that names the wrong field */
function bodyOf({ name, code, rate, active }: AffiliateText): Body {
  const rateBps = parsePercent(rate)
  if (rateBps === undefined) throw new Error(common('notPercent'))
  return { name: name.trim(), code: code.trim(), rateBps, active }
}

const blankAffiliate: AffiliateText = { name: '', code: '', rate: '', active: true }

export function EditAffiliate({ id, onSaved }: { id: string; onSaved: () => unknown }) {
  const affiliate = useResource(id, (signal) => readVersioned(api.GET('/affiliates/{id}', { params: { path: { id } }, signal })))
  return (
    <ResourceView resource={affiliate}>
      {(current) => <AffiliateForm current={current} resource={affiliate} onSaved={onSaved} />}
    </ResourceView>
  )
}

/** Creates or edits an affiliate. */
export function AffiliateForm({
  current,
  resource,
  onSaved,
}: {
  current?: Versioned<Affiliate>
  resource?: Resource<Versioned<Affiliate>>
  onSaved: () => unknown
}) {
  const editor = useRecordEditor(resource, current, textOf, blankAffiliate)
  const isRateInvalid = useSignal(false)
  const sendOnce = useIdempotentSend()
  const { fields } = editor
  async function save() {
    const base = editor.base()
    isRateInvalid.value = parsePercent(editor.values().rate) === undefined
    const { active, ...body } = bodyOf(editor.values())
    const saved = await editor.save({
      save: (version) =>
        sendOnce(base ? [body, active, version] : body, (header) =>
          base
            ? readVersioned(
                api.PATCH('/affiliates/{id}', {
                  params: { path: { id: base.data.id }, header: { ...header, ...ifMatch(version) } },
                  body: { ...body, active },
                }),
              )
            : readVersioned(api.POST('/affiliates', { params: { header }, body })),
        ),
      differences: (theirs) => diffRows(affiliateRows({ ...body, active }), affiliateRows(theirs)),
    })
    if (!saved) return
    notify(base ? common('saved') : t('made'))
    await onSaved()
  }
  return (
    <Form
      onSubmit={save}
      submit={current ? common('save') : common('create')}
      dirty={editor.isDirty}
      label={current ? t('edit') : t('add')}
    >
      <TextField bind={fields.name} label={common('name')} required max={255} />
      <TextField bind={fields.code} label={t('code')} hint={t(current ? 'codeChangeHint' : 'codeHint')} required max={64} code />
      <TextField
        bind={fields.rate}
        label={t('ratePercent')}
        hint={t(current ? 'rateChangeHint' : 'rateHint')}
        inputMode="decimal"
        required
        code
        error={isRateInvalid.value ? common('notPercent') : undefined}
      />
      {current && <CheckField bind={fields.active} label={common('active')} hint={t('activeHint')} />}
    </Form>
  )
}

const affiliateRows = (affiliate: Body): readonly (readonly [string, string])[] => [
  [common('name'), affiliate.name],
  [t('code'), affiliate.code],
  [t('rate'), percentOfBps(affiliate.rateBps)],
  [common('status'), stateName(affiliate.active ? 'ACTIVE' : 'DISABLED')],
]
