import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import type { Resource } from '../../lib/api/resource.ts'
import { number } from '../../lib/format/format.ts'
import { createDraft, draftValues } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { isOwner, shopPath } from '../../lib/session/current-shop.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { NumberField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { EmptyState, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { saveRows } from '../settings/rows.ts'
import { t } from './i18n.ts'
import { type ManualMethod, manualDifferences, manualMax, parseDays, parseManual, replaceManual, textsOfManual } from './manual.domain.ts'

type Methods = Schema<'PaymentMethods'>
export type VersionedMethods = Versioned<Methods>

/** Reads the payment methods of the shop. */
export const readMethods = (signal?: AbortSignal): Promise<VersionedMethods> =>
  readVersioned<Methods>(api.GET('/shops/v2/payment-methods', signal ? { signal } : {}))
/** Replaces all payment methods of the shop. */
export const putMethods = (body: Omit<Methods, 'warnings'>, etag: string | undefined): Promise<VersionedMethods> =>
  readVersioned<Methods>(api.PUT('/shops/v2/payment-methods', { params: { header: ifMatch(etag) }, body }))

const paymentsPath = () => shopPath('settings', 'payments')

/** Payments that the shop receives outside souk. Only its owner changes them. */
export function ManualMethods({ current }: { current: VersionedMethods }) {
  const query = useQuery()
  const manual = current.data.manual ?? []
  return (
    <Section title={t('manual')} hint={t('manualHint')}>
      {manual.length === 0 ? (
        <EmptyState title={t('manualNone')} />
      ) : (
        <Table
          caption={t('manual')}
          columns={[
            { title: common('name'), main: true, cell: ({ title }) => <bdi>{title}</bdi> },
            { title: common('code'), cell: ({ code }) => <code>{code}</code> },
            { title: t('manualDays'), alignEnd: true, cell: ({ expiresAfterDays }) => number(expiresAfterDays) },
          ]}
          rows={manual}
          rowKey={({ code }) => code}
          {...(isOwner.value ? { href: ({ code }: ManualMethod) => query.href({ manual: code }) } : {})}
        />
      )}
      {isOwner.value && manual.length < manualMax && (
        <div class="row">
          <ButtonLink icon="plus" href={query.href({ new: '1' })} text={t('manualAdd')} />
        </div>
      )}
    </Section>
  )
}

/** Edits a manual method, or adds one. */
export function EditManual({
  code,
  current,
  resource,
}: {
  code: string | undefined
  current: VersionedMethods
  resource: Resource<VersionedMethods>
}) {
  const { route } = useLocation()
  const [formKey, setFormKey] = useState(0)
  const method = current.data.manual?.find((method) => method.code === code)
  if (code !== undefined && !method) return <EmptyState title={common('missing')} text={common('missingText')} />

  /** @param newMethod undefined removes the method */
  async function save(newMethod: ManualMethod | undefined): Promise<void> {
    let latest = current
    const rowsOf = (version: VersionedMethods) => ({ data: { data: version.data.manual ?? [] }, etag: version.etag })
    const change = (list: readonly ManualMethod[]) => replaceManual(list, code, newMethod)
    const saved = await saveRows(rowsOf(current), {
      change,
      put: async (manual, etag) => {
        const { warnings: _, ...others } = latest.data
        latest = await putMethods({ ...others, manual }, etag)
        return rowsOf(latest)
      },
      read: async () => {
        latest = await readMethods()
        return rowsOf(latest)
      },
      differences: (theirs) => manualDifferences(change(theirs), theirs),
      isDone: (theirs) => manualDifferences(change(theirs), theirs).length === 0,
      onViewCurrent: () => {
        resource.put(latest)
        setFormKey((count) => count + 1)
      },
    })
    if (!saved) return
    resource.put(latest)
    notify(common('saved'))
    route(paymentsPath())
  }
  async function remove(): Promise<void> {
    const title = t('manualRemoveTitle', { title: method?.title ?? '' })
    if (await confirm({ title, body: <p>{t('manualRemoveText')}</p>, action: common('remove'), danger: true })) await save(undefined)
  }
  return <ManualForm key={formKey} method={method} save={save} onRemove={method && remove} />
}

function ManualForm({
  method,
  save,
  onRemove,
}: {
  method: ManualMethod | undefined
  save: (method: ManualMethod) => Promise<void>
  onRemove: (() => Promise<void>) | undefined
}) {
  const initial = useMemo(() => textsOfManual(method), [])
  const draft = useMemo(() => createDraft(initial), [])
  const input = draftValues(draft)
  async function submit(): Promise<void> {
    const parsed = parseManual(input)
    if (!parsed) throw new Error(`${t('manualDays')}: ${t('manualDaysWrong')}`)
    await save(parsed)
  }
  return (
    <Section title={t('manual')}>
      <Form
        onSubmit={submit}
        dirty={JSON.stringify(input) !== JSON.stringify(initial)}
        label={t('manual')}
        actions={onRemove && <Button kind="danger" onPress={onRemove} text={common('remove')} />}
      >
        <div class="fields">
          <TextField bind={draft.title} label={common('name')} hint={t('manualTitleHint')} max={100} required />
          <TextField
            bind={draft.code}
            label={common('code')}
            hint={t(method ? 'manualCodeFixed' : 'manualCodeHint')}
            max={40}
            disabled={method !== undefined}
            code
          />
          <NumberField
            bind={draft.expiresAfterDays}
            label={t('manualDays')}
            hint={t('manualDaysHint')}
            error={parseDays(input.expiresAfterDays) === undefined ? t('manualDaysWrong') : undefined}
            required
          />
        </div>
        <TextAreaField bind={draft.instructions} label={t('instructions')} hint={t('instructionsHint')} max={2_000} rows={6} required />
      </Form>
    </Section>
  )
}
