import { createReadStream, statSync } from 'node:fs'
import { system } from '../core/change.ts'
import { OperatorError } from '../core/errors.ts'
import { isCurrency } from '../lib/money.ts'
import { type ImportReport, importProducts } from '../modules/catalog/index.ts'
import { shopContextNamed } from '../modules/shop/index.ts'
import type { Input } from './command.ts'
import { UsageError } from './failure.ts'
import { createProgress } from './progress.ts'
import { withInstance } from './with-instance.ts'

const errorsShownMax = 50

/** `souk import`: the products of a Shopify CSV into a shop, beside a running server. */
export async function importFile({ config, positionals: [file = ''], values, switches }: Input): Promise<number> {
  const shopName = values.get('shop')
  if (shopName === undefined) throw new UsageError('--shop is missing: `souk import FILE --shop NAME`')
  const given = values.get('currency')?.toUpperCase()
  if (given !== undefined && !isCurrency(given)) throw new UsageError('--currency must be an ISO 4217 currency in use, such as USD')
  // Before the database is opened: a wrong name must not make one.
  const { size } = fileOf(file)
  return withInstance(config(), async ({ deps }) => {
    const shop = await shopContextNamed(deps, shopName)
    if (!shop) throw new OperatorError('There is no shop of that name: --shop takes the lower-case handle')
    const progress = createProgress({ total: size, label: 'Importing', stream: process.stderr, unit: 'bytes' })
    const how = { dryRun: switches.has('dry-run'), overwrite: switches.has('overwrite'), currency: given ?? shop.currency }
    const work = importProducts(deps, { shop, actor: system }, () => createReadStream(file), { ...how, onProgress: progress.at })
    return tell(await work.finally(progress.end))
  })
}

function fileOf(file: string): { size: number } {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw new OperatorError('The file to import is not there')
  if (!found.isFile()) throw new OperatorError('What is to be imported is not a file')
  return found
}

/** Prints what came of it. The exit status is 1 when a product was left out. */
function tell(report: ImportReport): number {
  const { dryRun, rows, products, created, updated, skipped, failed, variants, images, errors } = report
  const verb = dryRun ? 'would be ' : ''
  process.stdout.write(
    `${rows} rows, ${products} products: ${created} ${verb}created, ${updated} ${verb}updated, ${skipped} skipped, ${failed} failed (${variants} variants, ${images} images)\n`,
  )
  for (const { row, column, message } of errors.slice(0, errorsShownMax))
    process.stderr.write(`row ${row}${column ? `, ${column}` : ''}: ${message}\n`)
  if (errors.length > errorsShownMax) process.stderr.write(`and ${errors.length - errorsShownMax} more\n`)
  return failed > 0 ? 1 : 0
}
