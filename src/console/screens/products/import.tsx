import { useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pathWith, type Schema } from '../../lib/api.ts'
import { holdDirty } from '../../lib/dirty.ts'
import { bytes } from '../../lib/format.ts'
import { useEvents } from '../../lib/live.ts'
import { Refused } from '../../lib/refused.ts'
import { at, shop } from '../../lib/shop.ts'
import { upload } from '../../lib/upload.ts'
import { c } from '../../lib/words/common.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CheckField, FileField } from '../../ui/fields.tsx'
import { Page, Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { type Far, ImportProgress } from './import-progress.tsx'
import { Report } from './import-report.tsx'
import { w } from './words.ts'

type Result = Schema<'ImportReport'>
type Ended = { readonly told: string; readonly tone: 'warn' | 'bad'; readonly error?: unknown }

const bytesMax = 20 * 1024 * 1024
const bytesText = () => bytes(20_000_000)
const isTable = ({ name, type }: File) => /\.csv$|\.txt$/i.test(name) || /csv|text\/plain|excel/.test(type)

/** Brings products in by a CSV: checked first, then stored, with what was refused by row. */
export default function Import() {
  const file = useSignal<File | undefined>(undefined)
  const overwrite = useSignal(false)
  const stock = useSignal(false)
  const [report, setReport] = useState<Result | undefined>(undefined)
  const [ended, setEnded] = useState<Ended | undefined>(undefined)
  const [far, setFar] = useState<Far | undefined>(undefined)
  const stopping = useRef<AbortController | undefined>(undefined)
  const name = useRef(Symbol('import'))
  const heading = useRef<HTMLDivElement>(null)
  useEffect(() => {
    holdDirty(name.current, far !== undefined)
    return () => holdDirty(name.current, false)
  }, [far !== undefined])
  useEffect(() => () => stopping.current?.abort(), [])
  useEffect(() => {
    if (report || ended) heading.current?.focus()
  }, [report, ended])
  useEvents(['import.*'], ({ event, data }) => {
    const figure = (field: string) => (typeof data[field] === 'number' ? (data[field] as number) : 0)
    if (event === 'import.progress')
      setFar(
        (now) =>
          now && { ...now, server: { read: figure('bytesRead'), of: figure('bytes'), rows: figure('rows'), errors: figure('errors') } },
      )
    // Of one whose answer never came, this says what became of it.
    if (event === 'import.finished')
      setEnded(
        (now) =>
          now && {
            ...now,
            told: `${now.told} ${w('finishedElsewhere', { created: figure('created'), updated: figure('updated'), failed: figure('failed') })}`,
          },
      )
  })

  function choose([chosen]: readonly File[]): void {
    if (!chosen) return
    file.value = chosen
    setReport(undefined)
    setEnded(undefined)
    if (!isTable(chosen)) setEnded({ told: w('notCsv'), tone: 'bad' })
    else if (chosen.size > bytesMax) setEnded({ told: c('tooLarge', { max: bytesText() }), tone: 'bad' })
    else void send(true)
  }
  async function send(dryRun: boolean): Promise<void> {
    const of = file.value
    if (!of) return
    const stop = new AbortController()
    stopping.current = stop
    setEnded(undefined)
    setReport(undefined)
    setFar({ dryRun, sent: 0 })
    const query = { dryRun, overwrite: overwrite.value, stock: overwrite.value && stock.value, currency: shop.value?.currency }
    try {
      const answer = await upload<Result>(pathWith('/product-v2/import', query), of, {
        type: 'text/csv',
        signal: stop.signal,
        onProgress: (sent) => setFar((now) => now && { ...now, sent }),
      })
      setReport(answer)
    } catch (error) {
      setEnded(endOf(error, dryRun, query.overwrite, stop.signal.aborted))
    } finally {
      setFar(undefined)
    }
  }
  const again = (bind: { value: boolean }) => ({
    get value() {
      return bind.value
    },
    set value(value: boolean) {
      bind.value = value
      // What was seen is of the other choice.
      setReport(undefined)
    },
  })
  const isBusy = far !== undefined
  return (
    <Page title={w('importTitle')} subtitle={w('importText', { max: bytesText() })} back={{ href: at('products'), text: w('toAll') }}>
      <Section title={w('file')}>
        {!isBusy && <FileField label={file.value ? w('another') : w('importFile')} accept=".csv,text/csv" onFiles={choose} />}
        {file.value && (
          <p>
            <bdi>{file.value.name}</bdi> <span class="faint">{bytes(file.value.size)}</span>
          </p>
        )}
        <CheckField label={w('overwrite')} hint={w('overwriteHint')} bind={again(overwrite) as typeof overwrite} disabled={isBusy} />
        {overwrite.value && (
          <CheckField label={w('setStock')} hint={w('setStockHint')} bind={again(stock) as typeof stock} disabled={isBusy} />
        )}
        {file.value && !isBusy && !report && isTable(file.value) && file.value.size <= bytesMax && (
          <div class="row">
            <Button kind="primary" onPress={() => send(true)}>
              {ended ? w('checkAgain') : w('check')}
            </Button>
          </div>
        )}
        {far && <ImportProgress far={far} onStop={() => stopping.current?.abort()} />}
      </Section>
      <div ref={heading} tabIndex={-1} class="form-problem stack">
        {ended && (
          <div class={`note ${ended.tone} stack`} role="alert">
            <p>{ended.told}</p>
            {ended.error !== undefined && <Problem error={ended.error} />}
          </div>
        )}
        {report && (
          <Report
            of={report}
            actions={
              report.dryRun ? (
                <Button kind="primary" disabled={report.products === report.failed} onPress={() => send(false)}>
                  {w('importNow')}
                </Button>
              ) : (
                <ButtonLink kind="primary" href={at('products')}>
                  {w('toProducts')}
                </ButtonLink>
              )
            }
          />
        )}
      </div>
    </Page>
  )
}

/** What is so after an import had no answer, or a refusal. */
function endOf(error: unknown, dryRun: boolean, overwrite: boolean, isStopped: boolean): Ended {
  if (isStopped) return { told: dryRun ? w('stoppedCheck') : w('stopped'), tone: 'warn' }
  const isUnanswered = error instanceof Refused && error.status === 0
  if (isUnanswered) return { told: dryRun ? w('brokenCheck') : overwrite ? w('brokenOverwrite') : w('broken'), tone: 'bad' }
  return { told: dryRun ? w('nothingStored') : c('failed'), tone: 'bad', error }
}
