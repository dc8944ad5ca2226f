import { rmSync, statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { newTemporary } from '../../db/temporary-files.ts'
import { createApp } from '../app.ts'
import { writeAtomically } from '../clients/atomic-files.ts'
import { type CsvList, csvChunks, type ListRequest } from '../core/csv-list.ts'
import { OperatorError } from '../core/errors.ts'
import type { ShopContext } from '../core/principal.ts'
import { dayMs, startOfDay } from '../lib/day.ts'
import type { AppDeps } from '../providers.ts'
import type { Input } from './command.ts'
import { assertDirectoryOf, dayOptions, UsageError } from './failure.ts'
import { shopNamed, withExistingInstance } from './instance-command.ts'
import { onInterruption } from './interruption.ts'
import { createPrinter } from './printer.ts'
import { createProgress } from './progress.ts'
import { unknownText } from './suggestion.ts'

/** `souk export`: writes a complete list of a shop to a file or standard output, also next to a running server. */
export async function exportList({ config, positionals: [what = '', file = '-'], values, switches }: Input): Promise<number> {
  const shopName = values.get('shop')
  if (shopName === undefined) throw new UsageError('--shop is missing. Run `souk export orders --shop NAME FILE`')
  const days = dayOptions(values)
  if (file !== '-') assertDirectoryOf(file)
  if (file !== '-' && !switches.has('force') && statSync(file, { throwIfNoEntry: false }))
    throw new OperatorError(`${file} already exists. Choose another name, or use --force`)
  return withExistingInstance(config(), async ({ deps }) => {
    const lists = listsOf(deps)
    const list = lists.get(what)
    if (!list) throw new UsageError(`${unknownText('list', what, [...lists.keys()])} Lists: ${[...lists.keys()].sort().join(', ')}`)
    const shop = await shopNamed(deps, shopName)
    lowerPriority()
    const progress = createProgress({ total: 0, label: 'Exporting', stream: process.stderr, unit: 'records' })
    const pieces = listText(list, shop, days, (records) => progress.at(records))
    try {
      if (file === '-') await print(pieces)
      else await write(file, pieces)
    } finally {
      progress.end()
    }
    return 0
  })
}

/** A running server has priority. */
function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // Runs with normal priority if it may not be lowered.
  }
}

/** Returns the lists of a shop as its routes define them. */
function listsOf(deps: AppDeps): Map<string, CsvList> {
  const stated = createApp(deps).routes.flatMap(({ path, hooks }) => {
    const { 'x-csv': list } = (hooks.detail ?? {}) as { 'x-csv'?: CsvList }
    return list && !path.includes(':') && !path.startsWith(`${deps.config.apiV3Prefix}/`) ? [[list.name, list] as const] : []
  })
  return new Map(stated)
}

/** An export pauses this many times as long as it works. */
const pauseFactor = 3

type Days = { readonly from: string | undefined; readonly to: string | undefined }

/** Yields the text of a list and reports the number of records so far. */
async function* listText(list: CsvList, shop: ShopContext, days: Days, onRecords: (records: number) => void): AsyncGenerator<string> {
  const principal: ListRequest['principal'] = { kind: 'key', id: 'command', scopes: ['server'], shop }
  let records = 0
  const pieces = csvChunks(list, { shop, principal, query: {}, params: {} }, filterByDays(list, days))
  for (;;) {
    const startedAt = performance.now()
    const { done, value } = await pieces.next()
    if (done) return
    // Leaves most CPU time to a running server.
    await Bun.sleep(Math.min(pauseFactor * (performance.now() - startedAt), 1_000))
    records += value.records
    onRecords(records)
    yield value.text
  }
}

/** Returns whether a record was created within an inclusive range of days. */
function filterByDays({ name }: CsvList, { from, to }: Days): (row: unknown) => boolean {
  if (from === undefined && to === undefined) return () => true
  const since = from === undefined ? Number.NEGATIVE_INFINITY : startOfDay(from)
  const until = to === undefined ? Number.POSITIVE_INFINITY : startOfDay(to) + dayMs
  return (row) => {
    const at = createdDayOf(row as { createdAt?: string; order?: { createdAt: number } })
    if (at === undefined) throw new UsageError(`--from and --to can't be used with ${name}, which have no date`)
    return at >= since && at < until
  }
}

function createdDayOf({ createdAt, order }: { createdAt?: string; order?: { createdAt: number } }): number | undefined {
  return order?.createdAt ?? (createdAt === undefined ? undefined : Date.parse(createdAt))
}

async function print(pieces: AsyncGenerator<string>): Promise<void> {
  const interruption = onInterruption(() => 'Stopped. The output is incomplete. Run it again')
  const show = createPrinter(process.stdout)
  for await (const text of pieces) if (!(await show(text))) break
  interruption.end()
}

/** Writes to a temporary name first, so that an incomplete file is never used. */
async function write(file: string, pieces: AsyncGenerator<string>): Promise<void> {
  const temporary = newTemporary(file)
  const interruption = onInterruption(
    () => 'Stopped. Nothing was written. Run it again',
    () => rmSync(temporary, { force: true }),
  )
  await writeAtomically(file, temporary, encodeAll(pieces))
  interruption.end()
}

async function* encodeAll(pieces: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const text of pieces) yield encoder.encode(text)
}
