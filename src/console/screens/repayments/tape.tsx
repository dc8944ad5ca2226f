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
  const under = useSignal<{ phase: 'sending' | 'working'; part?: number } | undefined>(undefined)
  const ended = useSignal<ImportOutcome | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  const result = useRef<HTMLDivElement>(null)

  useDirty(under.value !== undefined, 'on its way')
  useEffect(() => () => stopping.current?.abort(), [])
  useEffect(() => {
    if (ended.value) result.current?.focus()
  }, [ended.value])

  async function send(of: File): Promise<void> {
    const mine = new AbortController()
    stopping.current = mine
    ended.value = undefined
    under.value = { phase: 'sending', part: 0 }
    try {
      if (of.size > mbMax * 1024 * 1024)
        throw new ApiError(413, common('tooLarge', { max: bytes(mbMax * 1_000_000) }), undefined, null, null)
      const report = await upload<Report>('/admin/repayments/import', of, {
        type: 'text/csv',
        signal: mine.signal,
        onProgress: (part) => (under.value = part >= 1 ? { phase: 'working' } : { phase: 'sending', part }),
      })
      ended.value = { report }
    } catch (error) {
      ended.value = mine.signal.aborted || (error instanceof ApiError && error.status === 0) ? { text: t('tapeBroke') } : { error }
    } finally {
      under.value = undefined
      onDone()
    }
  }
  function take([fresh]: readonly File[]): void {
    file.value = fresh
    ended.value = undefined
  }
  const chosen = file.value
  return (
    <Section title={t('tape')} hint={t('tapeHint')} actions={!under.value && <Button onPress={onClose} text={common('close')} />}>
      <p class="hint">
        <code>{tapeColumns.join(',')}</code>
      </p>
      {!chosen && <FileField label={common('choose')} accept=".csv,text/csv" onFiles={take} />}
      {chosen && (
        <p class="row">
          <bdi>{chosen.name}</bdi> <span class="faint">{bytes(chosen.size)}</span>
        </p>
      )}
      {chosen && !under.value && (
        <div class="form-actions">
          <Button kind="primary" onPress={() => void send(chosen)} text={t(ended.value ? 'tapeAgain' : 'tapeSend')} />
          <Button onPress={() => take([])} text={t('tapeOther')} />
        </div>
      )}
      {under.value && <ImportProgressView of={under.value} onStop={() => stopping.current?.abort()} />}
      <div ref={result} tabIndex={-1} class="form-problem loaded">
        {ended.value && 'text' in ended.value && <Note tone="warn">{ended.value.text}</Note>}
        {ended.value && 'error' in ended.value && <ErrorMessage error={ended.value.error} />}
        {ended.value && 'report' in ended.value && <LoanTapeReport of={ended.value.report} />}
      </div>
    </Section>
  )
}

const LoanTapeReport = ({ of }: { of: Report }) => (
  <>
    <Note tone={of.failed > 0 ? 'warn' : 'good'}>{t('tapeDone', { n: of.recorded })}</Note>
    <FactList
      of={[
        [t('rows'), number(of.rows)],
        [t('recorded'), number(of.recorded)],
        [t('known'), number(of.known)],
        [t('failed'), number(of.failed)],
      ]}
    />
    <ImportRows title={t('failedRows')} of={of.errors} capped={of.errorsTruncated} />
  </>
)
