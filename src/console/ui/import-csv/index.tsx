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
  readonly beside?: string
}
type ImportProgress = { readonly dryRun: boolean; readonly phase: 'sending' | 'working'; readonly part?: number; readonly rows?: number }
type ImportFailure = { readonly text: string } | { readonly error: unknown }

/**
 * @param path the import's route
 * @param kind as in its `import.*` events
 * @param facts further rows of the result
 * @param onDone called after data was stored
 */
export function ImportCsv<Answer extends ImportReport>({
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
  facts?: (answer: Answer) => readonly (readonly [name: string, value: ComponentChildren])[]
  onDone?: (answer: Answer) => void
}) {
  const file = useSignal<File | undefined>(undefined)
  const chosen = useSignal<Readonly<Record<string, boolean>>>({})
  const progress = useSignal<ImportProgress | undefined>(undefined)
  const answer = useSignal<{ of: Answer; asked: string } | undefined>(undefined)
  const failure = useSignal<ImportFailure | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  const result = useRef<HTMLDivElement>(null)
  const name = useRef(Symbol('import'))

  const isOn = ({ name: of, beside }: ImportOption) => !!chosen.value[of] && (beside === undefined || !!chosen.value[beside])
  const switches = () => Object.fromEntries(options.filter(isOn).map((one) => [one.name, true]))
  const asked = JSON.stringify(switches())

  useEffect(() => setDirty(name.current, progress.value !== undefined), [progress.value])
  useEffect(
    () => () => {
      setDirty(name.current, false)
      stopping.current?.abort()
    },
    [],
  )
  useEffect(() => {
    if (answer.value || failure.value) result.current?.focus()
  }, [answer.value, failure.value])
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
    progress.value = { ...progress.value, rows, ...(all > 0 ? { part: Math.min(1, read / all) } : {}) }
  })

  async function send(dryRun: boolean): Promise<void> {
    if (!file.value || progress.value) return
    const mine = new AbortController()
    stopping.current = mine
    answer.value = undefined
    failure.value = undefined
    let arrived = false
    progress.value = { dryRun, phase: 'sending', part: 0 }
    try {
      const of = await upload<Answer>(pathWith(path, { ...switches(), ...(dryRun && { dryRun }) }), file.value, {
        type: 'text/csv',
        signal: mine.signal,
        onProgress(part) {
          arrived = part >= 1
          progress.value = arrived ? { dryRun, phase: 'working' } : { dryRun, phase: 'sending', part }
        },
      })
      answer.value = { of, asked }
      if (!dryRun) onDone?.(of)
    } catch (error) {
      const broke = error instanceof ApiError ? error.status === 0 : mine.signal.aborted
      if (!broke) failure.value = { error }
      else if (!arrived || dryRun) failure.value = mine.signal.aborted ? { text: t('notSent') } : { error }
      else failure.value = { text: t(mine.signal.aborted ? 'stopped' : 'unknown') }
    } finally {
      progress.value = undefined
    }
  }

  function take([fresh]: readonly File[]): void {
    file.value = fresh
    answer.value = undefined
    failure.value = undefined
  }
  const checked = answer.value?.of.dryRun === true && answer.value.asked === asked ? answer.value.of : undefined
  const takeable = checked ? checked.created + checked.updated : 0
  return (
    <>
      <Section hint={hint}>
        {file.value ? (
          <div class="row">
            <bdi>{t('chosen', { name: truncate(file.value.name, 120), size: bytes(file.value.size) })}</bdi>
            {!progress.value && <Button onPress={() => take([])} text={t('another')} />}
          </div>
        ) : (
          <FileField label={t('file')} accept=".csv,text/csv" onFiles={take} />
        )}
        {options.map((option) => (
          <CheckField
            key={option.name}
            bind={switchOf(chosen, option.name)}
            label={option.label}
            hint={option.hint}
            disabled={progress.value !== undefined || (option.beside !== undefined && !chosen.value[option.beside])}
          />
        ))}
        {file.value && !progress.value && (
          <div class="form-actions">
            <Button kind={checked ? 'plain' : 'primary'} onPress={() => send(true)} text={t('check')} />
            {checked && (
              <Button kind="primary" disabled={takeable === 0} onPress={() => send(false)} text={t(`runFor.${kind}`, { n: takeable })} />
            )}
          </div>
        )}
        {!checked && !progress.value && <p class="hint">{t('checkHint')}</p>}
        {progress.value && <ImportProgressView of={progress.value} onStop={() => stopping.current?.abort()} />}
      </Section>
      <div ref={result} tabIndex={-1} class="form-problem loaded">
        {failure.value &&
          ('text' in failure.value ? <Note tone="warn">{failure.value.text}</Note> : <ErrorMessage error={failure.value.error} />)}
        {answer.value?.of.dryRun && answer.value.asked !== asked && <Note tone="warn">{t('stale')}</Note>}
        {answer.value && <ImportResult of={answer.value.of} facts={facts(answer.value.of)} />}
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
  of: { phase, part, rows },
  onStop,
}: {
  of: Pick<ImportProgress, 'phase' | 'part' | 'rows'>
  onStop: () => void
}) {
  const text = phase === 'sending' ? t('sent') : t('working')
  return (
    <div class="stack">
      <p role="status">{text}</p>
      <p class="faint">
        {part !== undefined && percent(part)} {rows !== undefined && t('rowsSoFar', { n: rows })}
      </p>
      <progress aria-label={text} {...(part === undefined ? {} : { value: part })} max={1} />
      <div>
        <Button onPress={onStop} text={t('stop')} />
      </div>
    </div>
  )
}

function ImportResult({ of, facts }: { of: ImportReport; facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const counts = (['rows', 'created', 'updated', 'skipped', 'failed'] as const).map((name) => [t(name), number(of[name])] as const)
  return (
    <>
      <Section title={of.dryRun ? t('wouldBe') : t('was')}>
        <FactList of={[...counts, ...facts]} />
        {of.failed === 0 && of.dryRun && <Note tone="good">{t('wouldBeGood')}</Note>}
      </Section>
      <ImportRows title={t('errors')} of={of.errors} capped={of.errorsTruncated} />
      <ImportRows title={t('notices')} of={of.notices ?? []} capped={of.noticesTruncated === true} />
    </>
  )
}

const shownMax = 200

/** Shows the messages of rows, as a table and as CSV. */
export function ImportRows({ title, of, capped }: { title: string; of: readonly RowMessage[]; capped?: boolean }) {
  if (of.length === 0) return null
  const isByProduct = of.some(({ handle }) => handle !== undefined)
  const cells = of.map(({ row, handle, column, message }) => [row, ...(isByProduct ? [handle ?? null] : []), column ?? null, message])
  const header = [t('row'), ...(isByProduct ? [common('product')] : []), t('column'), t('message')]
  return (
    <Section title={title} actions={<Button icon="download" onPress={() => saveCsv('import.csv', header, cells)} text={t('errorsCsv')} />}>
      {capped && <Note tone="warn">{t('errorsCapped')}</Note>}
      <Table
        caption={t('byRow', { title })}
        rows={of.slice(0, shownMax)}
        rowKey={(one) => `${one.row} ${one.handle} ${one.column} ${one.message}`}
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
