/** Imports a CSV file: a dry run first, then the import, with errors by row. */

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pathWith } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { upload } from '../../lib/api/upload.ts'
import { bytes, number, percent } from '../../lib/format/format.ts'
import { saveCsv } from '../../lib/format/save-csv.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { useEvents } from '../../lib/live/live-events.ts'
import { setDirty } from '../../lib/session/unsaved-changes.ts'
import { Button } from '../button.tsx'
import { ErrorMessage } from '../error-message.tsx'
import { FactList } from '../fact-list.tsx'
import { CheckField, FileField } from '../fields.tsx'
import { Note } from '../note.tsx'
import { Section } from '../page.tsx'
import { Table } from '../table.tsx'
import { t } from './i18n.ts'

/** Only product imports set `handle`. */
type RowMessage = { readonly row: number; readonly handle?: string; readonly column?: string; readonly message: string }
/** The common fields of import reports; `facts` shows the others. */
type ImportReport = {
  readonly dryRun: boolean
  readonly rows: number
  readonly created: number
  readonly updated: number
  readonly skipped: number
  readonly failed: number
  readonly errors: readonly RowMessage[]
  readonly errorsTruncated: boolean
  readonly notices?: readonly RowMessage[]
  readonly noticesTruncated?: boolean
}
/** A switch, named as its query parameter. */
type ImportOption = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** Another option that it depends on. */
  readonly dependsOn?: string
}
type ImportProgress = {
  readonly dryRun: boolean
  readonly phase: 'sending' | 'working'
  readonly fraction?: number
  readonly rows?: number
}
type ImportFailure = { readonly text: string } | { readonly error: unknown }

/**
 * @param path the import's route
 * @param kind as in its `import.*` events
 * @param facts further rows of the result
 * @param onDone called after data was stored
 */
export function ImportCsv<Report extends ImportReport>({
  path,
  kind,
  options,
  hint,
  facts = () => [],
  onDone,
}: {
  path: string
  kind: 'products' | 'customers'
  options: readonly ImportOption[]
  hint?: ComponentChildren
  facts?: (response: Report) => readonly (readonly [name: string, value: ComponentChildren])[]
  onDone?: (response: Report) => void
}) {
  const file = useSignal<File | undefined>(undefined)
  const switchValues = useSignal<Readonly<Record<string, boolean>>>({})
  const progress = useSignal<ImportProgress | undefined>(undefined)
  const response = useSignal<{ report: Report; switchesKey: string } | undefined>(undefined)
  const failure = useSignal<ImportFailure | undefined>(undefined)
  const controllerRef = useRef<AbortController | undefined>(undefined)
  const result = useRef<HTMLDivElement>(null)
  const name = useRef(Symbol('import'))

  const isOn = ({ name: option, dependsOn }: ImportOption) =>
    !!switchValues.value[option] && (dependsOn === undefined || !!switchValues.value[dependsOn])
  const switches = () => Object.fromEntries(options.filter(isOn).map((option) => [option.name, true]))
  const switchesKey = JSON.stringify(switches())

  useEffect(() => setDirty(name.current, progress.value !== undefined), [progress.value])
  useEffect(
    () => () => {
      setDirty(name.current, false)
      controllerRef.current?.abort()
    },
    [],
  )
  useEffect(() => {
    if (response.value || failure.value) result.current?.focus()
  }, [response.value, failure.value])
  useEvents(['import.*'], ({ event, data }) => {
    // The event reports the outcome of an import whose response was lost.
    if (event === 'import.finished' && data['kind'] === kind && failure.value && 'text' in failure.value) {
      const [created, updated, failed] = [data['created'], data['updated'], data['failed']].map(Number)
      failure.value = {
        text: `${failure.value.text} ${t('finished', { created: created ?? 0, updated: updated ?? 0, failed: failed ?? 0 })}`,
      }
    }
    if (progress.value?.phase !== 'working' || data['kind'] !== kind || event !== 'import.progress') return
    const [read, all, rows] = [Number(data['bytesRead']), Number(data['bytes']), Number(data['rows'])]
    progress.value = { ...progress.value, rows, ...(all > 0 ? { fraction: Math.min(1, read / all) } : {}) }
  })

  async function send(dryRun: boolean): Promise<void> {
    if (!file.value || progress.value) return
    const controller = new AbortController()
    controllerRef.current = controller
    response.value = undefined
    failure.value = undefined
    let isSent = false
    progress.value = { dryRun, phase: 'sending', fraction: 0 }
    try {
      const report = await upload<Report>(pathWith(path, { ...switches(), ...(dryRun && { dryRun }) }), file.value, {
        type: 'text/csv',
        signal: controller.signal,
        onProgress(fraction) {
          isSent = fraction >= 1
          progress.value = isSent ? { dryRun, phase: 'working' } : { dryRun, phase: 'sending', fraction }
        },
      })
      response.value = { report, switchesKey }
      if (!dryRun) onDone?.(report)
    } catch (error) {
      const hasNoResponse = error instanceof ApiError ? error.status === 0 : controller.signal.aborted
      if (!hasNoResponse) failure.value = { error }
      else if (!isSent || dryRun) failure.value = controller.signal.aborted ? { text: t('notSent') } : { error }
      else failure.value = { text: t(controller.signal.aborted ? 'stopped' : 'unknown') }
    } finally {
      progress.value = undefined
    }
  }

  function selectFile([newFile]: readonly File[]): void {
    file.value = newFile
    response.value = undefined
    failure.value = undefined
  }
  const checked = response.value?.report.dryRun === true && response.value.switchesKey === switchesKey ? response.value.report : undefined
  const importableRows = checked ? checked.created + checked.updated : 0
  return (
    <>
      <Section hint={hint}>
        {file.value ? (
          <div class="row">
            <bdi>{t('chosen', { name: truncate(file.value.name, 120), size: bytes(file.value.size) })}</bdi>
            {!progress.value && <Button onPress={() => selectFile([])} text={t('another')} />}
          </div>
        ) : (
          <FileField label={t('file')} accept=".csv,text/csv" onFiles={selectFile} />
        )}
        {options.map((option) => (
          <CheckField
            key={option.name}
            bind={switchOf(switchValues, option.name)}
            label={option.label}
            hint={option.hint}
            disabled={progress.value !== undefined || (option.dependsOn !== undefined && !switchValues.value[option.dependsOn])}
          />
        ))}
        {file.value && !progress.value && (
          <div class="form-actions">
            <Button kind={checked ? 'plain' : 'primary'} onPress={() => send(true)} text={t('check')} />
            {checked && (
              <Button
                kind="primary"
                disabled={importableRows === 0}
                onPress={() => send(false)}
                text={t(`runFor.${kind}`, { n: importableRows })}
              />
            )}
          </div>
        )}
        {!response.value && !failure.value && !progress.value && <p class="hint">{t('checkHint')}</p>}
        {progress.value && <ImportProgressView progress={progress.value} onStop={() => controllerRef.current?.abort()} />}
      </Section>
      <div ref={result} tabIndex={-1} class="form-problem loaded">
        {failure.value &&
          ('text' in failure.value ? <Note tone="warn">{failure.value.text}</Note> : <ErrorMessage error={failure.value.error} />)}
        {response.value?.report.dryRun && response.value.switchesKey !== switchesKey && <Note tone="warn">{t('stale')}</Note>}
        {response.value && <ImportResult report={response.value.report} facts={facts(response.value.report)} />}
      </div>
    </>
  )
}

/** Adapts one switch of a record to a field's signal. */
const switchOf = (all: Signal<Readonly<Record<string, boolean>>>, name: string) =>
  ({
    get value() {
      return all.value[name] ?? false
    },
    set value(isOn: boolean) {
      all.value = { ...all.value, [name]: isOn }
    },
  }) as Signal<boolean>

/** Shows the progress of an import with a stop button. */
export function ImportProgressView({
  progress: { phase, fraction, rows },
  onStop,
}: {
  progress: Pick<ImportProgress, 'phase' | 'fraction' | 'rows'>
  onStop: () => void
}) {
  const text = phase === 'sending' ? t('sent') : t('working')
  return (
    <div class="stack">
      <p role="status">{text}</p>
      <p class="faint">
        {fraction !== undefined && percent(fraction)} {rows !== undefined && t('rowsSoFar', { n: rows })}
      </p>
      <progress aria-label={text} {...(fraction === undefined ? {} : { value: fraction })} max={1} />
      <div>
        <Button onPress={onStop} text={t('stop')} />
      </div>
    </div>
  )
}

function ImportResult({ report, facts }: { report: ImportReport; facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const counts = (['created', 'updated', 'skipped', 'failed'] as const).map(
    (name) => [t(report.dryRun ? `preview.${name}` : name), number(report[name])] as const,
  )
  return (
    <>
      <Section title={report.dryRun ? t('wouldBe') : t('was')}>
        <FactList facts={[[t('rows'), number(report.rows)], ...counts, ...facts]} />
        {report.failed === 0 && report.dryRun && <Note tone="good">{t('wouldBeGood')}</Note>}
      </Section>
      <ImportRows title={t('errors')} messages={report.errors} isTruncated={report.errorsTruncated} />
      <ImportRows title={t('notices')} messages={report.notices ?? []} isTruncated={report.noticesTruncated === true} />
    </>
  )
}

const shownMax = 200

/** Shows the messages of rows, as a table and as CSV. */
export function ImportRows({ title, messages, isTruncated }: { title: string; messages: readonly RowMessage[]; isTruncated?: boolean }) {
  if (messages.length === 0) return null
  const isByProduct = messages.some(({ handle }) => handle !== undefined)
  const cells = messages.map(({ row, handle, column, message }) => [row, ...(isByProduct ? [handle ?? null] : []), column ?? null, message])
  const header = [t('row'), ...(isByProduct ? [common('product')] : []), t('column'), t('message')]
  return (
    <Section title={title} actions={<Button icon="download" onPress={() => saveCsv('import.csv', header, cells)} text={t('errorsCsv')} />}>
      {isTruncated && <Note tone="warn">{t('errorsCapped')}</Note>}
      <Table
        caption={t('byRow', { title })}
        rows={messages.slice(0, shownMax)}
        rowKey={(problem) => `${problem.row} ${problem.handle} ${problem.column} ${problem.message}`}
        columns={[
          { title: t('row'), main: true, cell: ({ row }) => number(row) },
          ...(isByProduct ? [{ title: common('product'), cell: ({ handle }: RowMessage) => <bdi>{handle ?? ''}</bdi> }] : []),
          { title: t('column'), cell: ({ column }) => <bdi>{column ?? ''}</bdi> },
          { title: t('message'), cell: ({ message }) => <bdi>{message}</bdi> },
        ]}
      />
    </Section>
  )
}
