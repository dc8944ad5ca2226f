import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ifMatch, readVersioned, type Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { notify } from '../../lib/live/toasts.ts'
import { isDirty } from '../../lib/session/unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { confirm, FormDialog } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { TextAreaField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { type Item, missingItems, uploadedKeys, type VersionedApplication } from './application.domain.ts'
import { t } from './i18n.ts'

type Application = Schema<'LendingApplication'>

/** Reloads after a version conflict, so that the next attempt acts on the shown version. */
async function reloadIfOutdated<Answer>(request: Promise<Answer>, onOutdated: () => unknown): Promise<Answer> {
  try {
    return await request
  } catch (error) {
    if (error instanceof ApiError && error.status === 412) onOutdated()
    throw error
  }
}

/** Submits a draft, or lists what is missing. The API decides which documents are required. */
export function SubmitSection({
  current,
  items,
  onSubmitted,
  onOutdated,
}: {
  current: VersionedApplication
  items: readonly Item[]
  onSubmitted: (version: VersionedApplication) => void
  onOutdated: () => unknown
}) {
  const { data, etag } = current
  const [error, setError] = useState<unknown>(undefined)
  const sendOnce = useIdempotentSend()
  const missing = missingItems(items, uploadedKeys(data))
  async function submit(): Promise<unknown> {
    setError(undefined)
    if (isDirty()) return notify(t('saveFirst'), { subject: 'submit' })
    if (missing.length > 0) {
      notify(t('notYet'), { subject: 'submit' })
      // They may have been uploaded elsewhere.
      return onOutdated()
    }
    if (!(await confirm({ title: t('submitTitle'), body: <p>{t('submitText')}</p>, action: t('submit') }))) return
    try {
      const version = await reloadIfOutdated(
        sendOnce([data.id, etag], (header) =>
          readVersioned<Application>(
            api.POST('/lending-application/{id}/submit', { params: { path: { id: data.id }, header: { ...header, ...ifMatch(etag) } } }),
          ),
        ),
        onOutdated,
      )
      notify(t('submitted'))
      onSubmitted(version)
    } catch (error) {
      setError(error)
    }
  }
  return (
    <Section title={t('submitSection')}>
      {missing.length > 0 && (
        <Note tone="warn">
          {t('stillMissing')}
          <ul class="bullets">
            {missing.map(({ key, label }) => (
              <li key={key}>
                <bdi>{label}</bdi>
              </li>
            ))}
          </ul>
        </Note>
      )}
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="form-actions">
        <Button kind="primary" onPress={submit} text={t('submit')} />
      </div>
    </Section>
  )
}

/** Withdraws an application. Irreversible. */
export function WithdrawDialog({
  current: { data, etag },
  onClose,
  onWithdrawn,
  onOutdated,
}: {
  current: VersionedApplication
  onClose: () => void
  onWithdrawn: (version: VersionedApplication) => void
  onOutdated: () => unknown
}) {
  const reason = useSignal('')
  const sendOnce = useIdempotentSend()
  async function withdraw(): Promise<void> {
    const body = { reason: reason.value.trim() || null }
    const version = await reloadIfOutdated(
      sendOnce([data.id, etag, body], (header) =>
        readVersioned<Application>(
          api.POST('/lending-application/{id}/withdraw', {
            params: { path: { id: data.id }, header: { ...header, ...ifMatch(etag) } },
            body,
          }),
        ),
      ),
      onOutdated,
    )
    notify(t('withdrawn'))
    onWithdrawn(version)
  }
  return (
    <FormDialog title={t('withdrawTitle')} onClose={onClose}>
      <p>{t('withdrawText')}</p>
      <Form onSubmit={withdraw} submit={t('withdraw')} danger dirty={reason.value !== ''} label={t('withdrawTitle')}>
        <TextAreaField bind={reason} label={t('why')} hint={t('whyHint')} max={2_000} rows={3} />
      </Form>
    </FormDialog>
  )
}
