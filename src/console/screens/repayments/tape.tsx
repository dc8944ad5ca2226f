import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Schema } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { upload } from '../../lib/api/upload.ts'
import { bytes, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { useDirty } from '../../lib/session/use-unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { FileField } from '../../ui/fields.tsx'
import { ImportProgressView, ImportRows } from '../../ui/import-csv/index.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import { tapeColumns } from './repayment.domain.ts'

type Report = Schema<'LoanTapeReport'>
/** The API's limit in megabytes of 1,048,576 bytes. */
const mbMax = 20

type ImportOutcome = { readonly report: Report } | { readonly error: unknown } | { readonly text: string }

/** Imports a loan tape. A repeated import changes nothing, so an interrupted one is simply sent again. */
export function LoanTapeImport({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const file = useSignal<File | undefined>(undefined)
  const progress = useSignal<{ phase: 'sending' | 'working'; fraction?: number } | undefined>(undefined)
  const outcome = useSignal<ImportOutcome | undefined>(undefined)
  const controllerRef = useRef<AbortController | undefined>(undefined)
  const result = useRef<HTMLDivElement>(null)

  useDirty(progress.value !== undefined, 'upload')
  useEffect(() => () => controllerRef.current?.abort(), [])
  useEffect(() => {
    if (outcome.value) result.current?.focus()
  }, [outcome.value])

  async function send(csvFile: File): Promise<void> {
    const controller = new AbortController()
    controllerRef.current = controller
    outcome.value = undefined
    progress.value = { phase: 'sending', fraction: 0 }
    try {
      if (csvFile.size > mbMax * 1024 * 1024)
        throw new ApiError(413, common('tooLarge', { max: bytes(mbMax * 1_000_000) }), undefined, null, null)
      const report = await upload<Report>('/admin/repayments/import', csvFile, {
        type: 'text/csv',
        signal: controller.signal,
        onProgress: (fraction) => (progress.value = fraction >= 1 ? { phase: 'working' } : { phase: 'sending', fraction }),
      })
      outcome.value = { report }
    } catch (error) {
      outcome.value = controller.signal.aborted || (error instanceof ApiError && error.status === 0) ? { text: t('tapeBroke') } : { error }
    } finally {
      progress.value = undefined
      onDone()
    }
  }
  function selectFile([newFile]: readonly File[]): void {
    file.value = newFile
    outcome.value = undefined
  }
  const selectedFile = file.value
  return (
    <Section title={t('tape')} hint={t('tapeHint')} actions={!progress.value && <Button onPress={onClose} text={common('close')} />}>
      <p class="hint">
        <code>{tapeColumns.join(',')}</code>
      </p>
      {!selectedFile && <FileField label={common('choose')} accept=".csv,text/csv" onFiles={selectFile} />}
      {selectedFile && (
        <p class="row">
          <bdi>{selectedFile.name}</bdi> <span class="faint">{bytes(selectedFile.size)}</span>
        </p>
      )}
      {selectedFile && !progress.value && (
        <div class="form-actions">
          <Button kind="primary" onPress={() => void send(selectedFile)} text={t(outcome.value ? 'tapeAgain' : 'tapeSend')} />
          <Button onPress={() => selectFile([])} text={t('tapeOther')} />
        </div>
      )}
      {progress.value && <ImportProgressView progress={progress.value} onStop={() => controllerRef.current?.abort()} />}
      <div ref={result} tabIndex={-1} class="form-problem loaded">
        {outcome.value && 'text' in outcome.value && <Note tone="warn">{outcome.value.text}</Note>}
        {outcome.value && 'error' in outcome.value && <ErrorMessage error={outcome.value.error} />}
        {outcome.value && 'report' in outcome.value && <LoanTapeReport report={outcome.value.report} />}
      </div>
    </Section>
  )
}

const LoanTapeReport = ({ report }: { report: Report }) => (
  <>
    <Note tone={report.failed > 0 ? 'warn' : 'good'}>{t('tapeDone', { n: report.recorded })}</Note>
    <FactList
      facts={[
        [t('rows'), number(report.rows)],
        [t('recorded'), number(report.recorded)],
        [t('known'), number(report.known)],
        [t('failed'), number(report.failed)],
      ]}
    />
    <ImportRows title={t('failedRows')} messages={report.errors} isTruncated={report.errorsTruncated} />
  </>
)
