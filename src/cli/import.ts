import { createReadStream } from 'node:fs'
import { system } from '../core/command-context.ts'
import { OperatorError } from '../core/errors.ts'
import { isCurrency } from '../lib/money.ts'
import { plainText } from '../lib/plain-text.ts'
import { type FetchReport, fetchImages, type ImportReport, importProducts } from '../modules/catalog/products/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
import { UsageError } from './failure.ts'
import { importWithProgress, noteLine, notesShownMax, sizeOf, untilInterrupted } from './import-run.ts'
import { shopNamed, withExistingInstance } from './instance-command.ts'
import { importInterrupted, interruptedStatus } from './interruption.ts'
import { createProgress } from './progress.ts'

const urlShownMax = 300

/** `souk import`: imports products from a Shopify CSV, also next to a running server. */
export async function importFile({ config, positionals: [file = ''], values, switches }: Input): Promise<number> {
  const shopName = values.get('shop')
  if (shopName === undefined) throw new UsageError('--shop is missing. Run `souk import FILE --shop NAME`')
  if (switches.has('customers'))
    return (await import('./import-customers.ts')).importCustomersFile(config(), file, shopName, { switches, values })
  const currency = values.get('currency')?.toUpperCase()
  if (currency !== undefined && !isCurrency(currency)) throw new UsageError('--currency must be an ISO 4217 currency in use, such as USD')
  const overwrite = switches.has('overwrite')
  const stock = switches.has('stock')
  if (stock && !overwrite) throw new UsageError('--stock needs --overwrite')
  const bytes = sizeOf(file)
  return withExistingInstance(config(), async ({ deps }) => {
    const shop = await shopNamed(deps, shopName)
    if (currency !== undefined && currency !== shop.currency)
      throw new OperatorError(`--currency must be ${shop.currency}, the shop's currency`)
    const how = { dryRun: switches.has('dry-run'), overwrite, stock, currency: shop.currency }
    const report = await importWithProgress(deps, { shopId: shop.id, kind: 'products', dryRun: how.dryRun, bytes }, (options) =>
      importProducts(deps, { shop, actor: system }, () => createReadStream(file), { ...how, ...options }),
    )
    const status = printReport(report, overwrite)
    if (report.complete && switches.has('fetch-images') && !report.dryRun)
      return Math.max(status, await fetchWithProgress(deps, { id: shop.id, currency: shop.currency }))
    if (report.complete) return status
    return importInterrupted(report)
  })
}

/** @returns 1 if a picture could not be fetched */
async function fetchWithProgress(
  deps: Parameters<typeof fetchImages>[0],
  shop: Parameters<typeof fetchImages>[1]['shop'],
): Promise<number> {
  let progress: ReturnType<typeof createProgress> | undefined
  const onProgress = (done: number, total: number) => {
    progress ??= createProgress({ total, label: 'Downloading images', stream: process.stderr, unit: 'products' })
    progress.at(done)
  }
  const fetching = untilInterrupted((signal) => fetchImages(deps, { shop, actor: system }, { onProgress, signal }))
  const report = await fetching.finally(() => progress?.end())
  printFetchReport(report)
  if (!report.complete) {
    process.stderr.write('Stopped before the last product. Run it again to continue.\n')
    return interruptedStatus.SIGINT
  }
  return report.failed > 0 ? 1 : 0
}

function printFetchReport({ products, fetched, known, failed, failures }: FetchReport): void {
  process.stdout.write(`Images of ${countText(products, 'product')}: ${fetched} downloaded, ${known} already stored, ${failed} failed\n`)
  for (const { handle, url, why } of failures.slice(0, notesShownMax))
    process.stderr.write(`${handle}, ${plainText(url, urlShownMax)}: ${why}\n`)
  if (failed > notesShownMax) process.stderr.write(`and ${failed - notesShownMax} more\n`)
}

/**
 * Prints the report.
 * @returns 1 if a product failed
 */
function printReport(report: ImportReport, overwrite: boolean): number {
  const { dryRun, rows, products, created, updated, skipped, failed, variants, images, errors, notices } = report
  const verb = dryRun ? 'would be ' : ''
  process.stdout.write(
    `${countText(rows, 'row')}, ${countText(products, 'product')}: ${created} ${verb}created, ${updated} ${verb}updated, ${skipped} skipped, ${failed} failed (${countText(variants, 'variant')}, ${countText(images, 'image')})\n`,
  )
  if (overwrite) process.stdout.write(`${stockText(report)}\n`)
  for (const notice of notices.slice(0, notesShownMax)) process.stdout.write(noteLine(notice))
  if (notices.length > notesShownMax) process.stdout.write(`and ${notices.length - notesShownMax} more notices\n`)
  for (const error of errors.slice(0, notesShownMax)) process.stderr.write(noteLine(error))
  if (errors.length > notesShownMax) process.stderr.write(`and ${errors.length - notesShownMax} more\n`)
  return failed > 0 ? 1 : 0
}

/** Describes the stock changes of existing products. */
function stockText({ dryRun, stock: { set, counts, tracking, leftAlone }, variantsKept }: ImportReport): string {
  const verb = dryRun ? 'would be ' : ''
  const text = set
    ? `Stock: ${countText(counts, 'count')} ${verb}updated, tracking of ${countText(tracking, 'variant')} ${verb}changed`
    : `Stock: unchanged for existing variants (${leftAlone} differ from the file; use --stock to update them)`
  return `${text}. ${countText(variantsKept, 'variant')} not in the file kept.`
}
