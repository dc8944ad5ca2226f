import { createReadStream } from 'node:fs'
import type { Config } from '../config.ts'
import { system } from '../core/command-context.ts'
import { type CustomersReport, importCustomers } from '../modules/customers/customer/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
import { UsageError } from './failure.ts'
import { importWithProgress, noteLine, notesShownMax, sizeOf } from './import-run.ts'
import { shopNamed, withExistingInstance } from './instance-command.ts'
import { importInterrupted } from './interruption.ts'

/** `souk import FILE --customers`: imports customers from a Shopify CSV, also next to a running server. */
export async function importCustomersFile(
  config: Config,
  file: string,
  shopName: string,
  { switches, values }: Pick<Input, 'switches' | 'values'>,
): Promise<number> {
  const strays = ['stock', 'fetch-images', 'currency'].filter((flag) => switches.has(flag) || values.has(flag))
  if (strays.length > 0) throw new UsageError(`--${strays[0]} can't be combined with --customers`)
  const bytes = sizeOf(file)
  return withExistingInstance(config, async ({ deps }) => {
    const shop = await shopNamed(deps, shopName)
    const how = { dryRun: switches.has('dry-run'), overwrite: switches.has('overwrite') }
    const report = await importWithProgress(deps, { shopId: shop.id, kind: 'customers', dryRun: how.dryRun, bytes }, (options) =>
      importCustomers(deps, { shop, actor: system }, () => createReadStream(file), { ...how, ...options }),
    )
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
  for (const notice of notices.slice(0, notesShownMax)) process.stdout.write(noteLine(notice))
  if (notices.length > notesShownMax || report.noticesTruncated) process.stdout.write('and more ignored values\n')
  for (const error of errors.slice(0, notesShownMax)) process.stderr.write(noteLine(error))
  if (failed > notesShownMax) process.stderr.write(`and ${failed - notesShownMax} more\n`)
  return failed > 0 ? 1 : 0
}
