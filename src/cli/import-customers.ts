import { createReadStream, statSync } from 'node:fs'
import type { Config } from '../config.ts'
import { system } from '../core/command-context.ts'
import { OperatorError } from '../core/errors.ts'
import { type CustomersReport, importCustomers } from '../modules/customers/customer/index.ts'
import { runReportedImport } from '../modules/messaging/live-events/index.ts'
import { findShopContextByName } from '../modules/shop/shop/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
import { UsageError } from './failure.ts'
import { withExistingInstance } from './instance-command.ts'
import { importInterrupted } from './interruption.ts'
import { createProgress } from './progress.ts'

const notesShownMax = 50

/** `souk import FILE --customers`: imports customers from a Shopify CSV, also next to a running server. */
export async function importCustomersFile(
  config: Config,
  file: string,
  shopName: string,
  { switches, values }: Pick<Input, 'switches' | 'values'>,
): Promise<number> {
  const strays = ['stock', 'fetch-images', 'currency'].filter((flag) => switches.has(flag) || values.has(flag))
  if (strays.length > 0) throw new UsageError(`--${strays[0]} can't be combined with --customers`)
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats?.isFile()) throw new OperatorError(`${stats ? 'Not a file' : 'File not found'}: ${file}`)
  return withExistingInstance(config, async ({ deps }) => {
    const shop = await findShopContextByName(deps, shopName)
    if (!shop) throw new OperatorError('Shop not found. --shop takes the handle of the shop')
    const progress = createProgress({ total: stats.size, label: 'Importing', stream: process.stderr, unit: 'bytes' })
    const stop = new AbortController()
    const interrupted = () => stop.abort()
    process.once('SIGINT', interrupted)
    const dryRun = switches.has('dry-run')
    const report = await runReportedImport(deps, { shopId: shop.id, kind: 'customers', dryRun, bytes: stats.size }, (reportProgress) =>
      importCustomers(deps, { shop, actor: system }, () => createReadStream(file), {
        dryRun,
        overwrite: switches.has('overwrite'),
        signal: stop.signal,
        onProgress(bytes, rows, failed) {
          progress.at(bytes, `${rows.toLocaleString('en-US')} rows`)
          reportProgress(bytes, rows, failed)
        },
      }),
    ).finally(() => {
      progress.end()
      process.off('SIGINT', interrupted)
    })
    const status = printReport(report)
    if (report.complete) return status
    return importInterrupted(report)
  })
}

/**
 * Prints the report.
 * @returns 1 if a row failed
 */
function printReport({ dryRun, rows, created, updated, skipped, failed, addresses, errors, notices, ...report }: CustomersReport): number {
  const verb = dryRun ? 'would be ' : ''
  process.stdout.write(
    `${countText(rows, 'row')}: ${countText(created, 'customer')} ${verb}created, ${updated} ${verb}updated, ${skipped} skipped, ${failed} failed (${addresses} ${addresses === 1 ? 'address' : 'addresses'})\n`,
  )
  for (const { row, column, message } of notices.slice(0, notesShownMax))
    process.stdout.write(`row ${row}${column ? `, ${column}` : ''}: ${message}\n`)
  if (notices.length > notesShownMax || report.noticesTruncated) process.stdout.write('and more ignored values\n')
  for (const { row, column, message } of errors.slice(0, notesShownMax))
    process.stderr.write(`row ${row}${column ? `, ${column}` : ''}: ${message}\n`)
  if (failed > notesShownMax) process.stderr.write(`and ${failed - notesShownMax} more\n`)
  return failed > 0 ? 1 : 0
}
