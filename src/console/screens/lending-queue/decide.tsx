import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { number } from '../../lib/format/format.ts'
import { lendingStateName } from '../../lib/format/lending-names.ts'
import { draftValues } from '../../lib/forms/draft.ts'
import { useDraft } from '../../lib/forms/use-draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { CloseButton } from '../../ui/close-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { AssessFields, blankFigures, EnvelopePreview } from './assess.tsx'
import { t } from './i18n.ts'
import { type Decision, decisionsIn, parseAssessment } from './review.domain.ts'

type Application = Schema<'AdminLendingApplication'>
export type VersionedApplication = Versioned<Application>

/** Decides about the viewed version of an application. */
export function DecideDialog({
  current,
  read,
  onCurrent,
  onClose,
}: {
  current: VersionedApplication
  read: () => Promise<VersionedApplication>
  /** Called with the present version. */
  onCurrent: (version: VersionedApplication) => void
  onClose: () => void
}) {
  // A newer version is shown as a conflict.
  const [{ data: application, etag }] = useState(current)
  const decisions = decisionsIn(application.status)
  const decision = useSignal<Decision>('UNDER_REVIEW')
  const reason = useSignal('')
  const reference = useSignal(application.partnerExternalRef ?? '')
  const hasFigures = useSignal(false)
  const figures = useDraft(application.id, blankFigures(application.cohort))
  const sendOnce = useIdempotentSend()

  async function decide(): Promise<void> {
    const assessment = hasFigures.value ? parseAssessment(draftValues(figures.fields)) : undefined
    if (assessment && 'wrongFields' in assessment) throw new Error(t('figuresMissing'))
    const body = {
      decision: decision.value,
      reason: reason.value.trim() || null,
      partnerExternalRef: reference.value.trim() || null,
      ...(assessment && { assessment: assessment.body }),
    }
    const decided = await saveVersioned<VersionedApplication, Application>(etag, {
      save: (version) =>
        sendOnce({ body, version }, (header) =>
          readVersioned(
            api.POST('/admin/lending-application/{id}/decision', {
              params: { path: { id: application.id }, header: { ...header, ...ifMatch(version) } },
              body,
            }),
          ),
        ),
      readCurrent: read,
      differences: (now) => [
        [common('status'), lendingStateName(body.decision), lendingStateName(now.status)],
        [common('reason'), body.reason ?? '–', now.reason ?? '–'],
        [t('documents'), number(application.documents.length), number(now.documents.length)],
        [t('decisions'), number(now.decisions.length + 1), number(now.decisions.length)],
      ],
      onViewCurrent: (now) => {
        onCurrent(now)
        onClose()
      },
    })
    if (!decided) return
    onCurrent(decided)
    notify(t('isDecided', { status: lendingStateName(decided.data.status) }))
    onClose()
  }
  const { value } = decision
  if (decisions.length === 0) return null
  return (
    <FormDialog title={t('decide')} onClose={onClose} wide>
      {current.etag !== etag && <Note tone="warn">{t('meanwhile')}</Note>}
      <Form
        onSubmit={decide}
        submit={t(`do.${value}`)}
        danger={value === 'REJECTED'}
        dirty={reason.value !== '' || reference.value !== (application.partnerExternalRef ?? '') || figures.isDirty}
        label={t('decide')}
        actions={<CloseButton />}
      >
        <fieldset class="field choices">
          <legend>{t('decision')}</legend>
          {decisions.map((option) => (
            <label key={option} class="choice">
              <input type="radio" name="decision" checked={value === option} onChange={() => (decision.value = option)} />
              <span>{t(`do.${option}`)}</span>
            </label>
          ))}
        </fieldset>
        <Note tone={value === 'UNDER_REVIEW' ? 'info' : 'warn'}>{t(`what.${value}`)}</Note>
        <TextAreaField label={common('reason')} hint={common('reasonHint')} bind={reason} max={2000} />
        <TextField label={t('reference')} hint={t('referenceHint')} bind={reference} max={200} />
        <CheckField label={t('withFigures')} hint={t('withFiguresHint')} bind={hasFigures} />
        {hasFigures.value && (
          <>
            <AssessFields figures={figures.fields} hidesCohort />
            <EnvelopePreview figures={figures.fields} />
          </>
        )}
      </Form>
    </FormDialog>
  )
}
