import type { Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import {
  addNotices,
  emptyNoticeReport,
  emptyRowReport,
  importRows,
  type NoticeReport,
  type RowImportOptions,
  type RowReport,
} from '../../../core/csv-import.ts'
import { type CsvSource, readRecords } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { isSameValue, pick, withoutUndefined } from '../../../lib/objects.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { type ImportedCustomer, parseHeader, parseRow } from './csv-customers.ts'
import { addressesPerCustomerMax, type Customer, profileFields } from './domain.ts'
import { importStore as store } from './import-store.ts'
import type { CustomerDeps } from './providers.ts'
import { addressDifference, buildAddress, buildCustomer, clearOtherDefaults, customerDifference, type Shop } from './service.ts'

export type CustomersReport = RowReport &
  NoticeReport & { dryRun: boolean; created: number; updated: number; skipped: number; addresses: number }

type CustomersOptions = RowImportOptions & {
  readonly dryRun: boolean
  /** Changes existing customers to the file's values; otherwise they are skipped. */
  readonly overwrite: boolean
  readonly rowsMax?: number
}

/** Rows per write. */
const batchSize = 32
const importedFields = [...profileFields, 'note', 'tags'] as const

type ImportActor = { readonly shop: Shop; readonly actor: Actor }

/**
 * Imports the customers of a Shopify export. They are matched by e-mail address, so an import can be repeated, also
 * after a crash. They get no password and no mail. Rows with errors are skipped and reported.
 * @throws AppError INVALID for an unusable file; TOO_LARGE beyond `rowsMax` rows
 */
export async function importCustomers(
  deps: CustomerDeps,
  by: ImportActor,
  source: CsvSource,
  options: CustomersOptions,
): Promise<CustomersReport> {
  const { dryRun, onProgress, signal, rowsMax = Number.POSITIVE_INFINITY, rest } = options
  const counts = { created: 0, updated: 0, skipped: 0, addresses: 0 }
  const report: CustomersReport = { dryRun, ...emptyRowReport(), ...emptyNoticeReport(), ...counts }
  /** Customers that a dry run would have created. */
  const seen = new Set<string>()
  const importing = importRows(report, {
    ...{ batchSize, rowsMax, signal, rest },
    records: readRecords(source, { rest, skipsBlankRows: true, onProgress: (bytes) => onProgress?.(bytes, report.rows, report.failed) }),
    readHeader(record) {
      const columns = parseHeader(record)
      if (columns.ignored.length > 0)
        addNotices(report, [{ row: 1, message: `These columns are not imported: ${columns.ignored.join(', ')}` }])
      return columns
    },
    readRow: parseRow,
    tooMany: () => tooManyRows(rowsMax, report),
    store: (rows: readonly ImportedCustomer[]) =>
      dryRun ? previewRows(deps, by, rows, options, seen) : deps.db.write((tx) => storeRows(tx, deps, by, rows, options), locking),
    count({ notices }, { kind, addresses }) {
      report[kind]++
      report.addresses += addresses
      if (kind !== 'skipped') addNotices(report, notices)
    },
  })
  await importing.catch((error: unknown) => {
    throw addStoredText(error, report)
  })
  return report
}

const storedText = ({ dryRun, created, updated }: CustomersReport): string =>
  dryRun ? 'Nothing was stored' : `${created} customers were created and ${updated} changed before that, and stay stored`

const tooManyRows = (most: number, report: CustomersReport) =>
  new AppError('TOO_LARGE', `The file has more than ${most} rows. Split it, or run \`souk import --customers\`. ${storedText(report)}`)

/** Adds what was stored to the error of a file that turns out to be unusable in the middle. */
const addStoredText = (error: unknown, report: CustomersReport): unknown =>
  error instanceof AppError && error.kind === 'INVALID' && report.created + report.updated > 0
    ? new AppError('INVALID', `${error.message} ${storedText(report)}`)
    : error

/** Creates the error of an import by HTTP that was stopped before the end of its file. */
export const customersStoppedError = (report: CustomersReport): AppError =>
  new AppError(
    'UNAVAILABLE',
    `The import took too long and was stopped after ${report.rows} rows. ${storedText(report)}. Send the rest of the file`,
    {
      retryAfterSeconds: 1,
    },
  )

type RowResult = { readonly kind: 'created' | 'updated' | 'skipped'; readonly addresses: number }

/** Predicts the result from existing customers and earlier rows. */
async function previewRows(
  { db }: CustomerDeps,
  { shop }: ImportActor,
  rows: readonly ImportedCustomer[],
  { overwrite }: CustomersOptions,
  seen: Set<string>,
): Promise<RowResult[]> {
  const found = await store.withEmails(db.read, shop.id, rows.map(emailOf))
  const existing = new Set(found.map(emailOf))
  return rows.map(({ email, address }) => {
    const isKnown = existing.has(email) || seen.has(email)
    seen.add(email)
    if (isKnown && !overwrite) return { kind: 'skipped', addresses: 0 }
    return { kind: isKnown ? 'updated' : 'created', addresses: address && !isKnown ? 1 : 0 }
  })
}

const emailOf = ({ email }: { readonly email: string }): string => email

async function storeRows(
  tx: Writer,
  deps: CustomerDeps,
  by: ImportActor,
  rows: readonly ImportedCustomer[],
  { overwrite }: CustomersOptions,
): Promise<RowResult[]> {
  const { shop } = by
  const found = await store.withEmails(tx, shop.id, rows.map(emailOf))
  const locked = overwrite
    ? await store.lock(
        tx,
        found.map(({ id }) => id),
      )
    : []
  const existing = new Map<string, Customer | undefined>(found.map(({ email }) => [email, undefined]))
  // Locked rows: a customer whose address changed meanwhile is not a match.
  for (const customer of locked) existing.set(customer.email, customer)
  const results: RowResult[] = []
  for (const row of rows) {
    const before = existing.get(row.email)
    if (existing.has(row.email) && (!overwrite || !before)) {
      results.push({ kind: 'skipped', addresses: 0 })
      continue
    }
    const after = before ? await changeImported(tx, deps, by, before, row) : await createImported(tx, deps, by, row)
    existing.set(row.email, after)
    results.push({ kind: before ? 'updated' : 'created', addresses: await addToBook(tx, deps, by, after, row.address) })
  }
  return results
}

async function createImported(tx: Writer, deps: CustomerDeps, { shop, actor }: ImportActor, row: ImportedCustomer): Promise<Customer> {
  const customer = buildCustomer(deps, { shopId: shop.id, email: row.email, ...pick(row, ...importedFields) })
  await deps.customerStore.insert(tx, customer)
  const entry = { actor, action: 'customer.created', subject: customer.id, shopId: shop.id }
  await audit(tx, deps, { ...entry, ...customerDifference(customer) })
  return customer
}

async function changeImported(
  tx: Writer,
  deps: CustomerDeps,
  { shop, actor }: ImportActor,
  before: Customer,
  row: ImportedCustomer,
): Promise<Customer> {
  const changes = withoutUndefined(pick(row, ...importedFields))
  if (isSameValue({ ...before, ...changes }, before)) return before
  const after = (await deps.customerStore.change(tx, before.id, { ...changes, updatedAt: deps.clock.now() })) ?? before
  const withoutPassword = ({ passwordHash: _, ...rest }: Customer) => rest
  const difference = differenceOf(withoutPassword(before), withoutPassword(after), ['acceptsMarketing'])
  await audit(tx, deps, { actor, action: 'customer.changed', subject: before.id, shopId: shop.id, ...difference })
  return after
}

/**
 * Adds the file's address to the book unless it is there. The first one becomes the default of both kinds. Returns the
 * number added.
 */
async function addToBook(
  tx: Writer,
  deps: CustomerDeps,
  { shop, actor }: ImportActor,
  { id }: Customer,
  address: ImportedCustomer['address'],
): Promise<number> {
  if (!address) return 0
  const book = await store.bookOf(tx, id)
  const text = (entry: object) => JSON.stringify(entry)
  const isFirst = book.length === 0
  const newEntry = buildAddress(deps, shop, address, { customerId: id, isDefaultShipping: isFirst, isDefaultBilling: isFirst })
  if (book.length >= addressesPerCustomerMax || book.some((entry) => text(entry.address) === text(newEntry.address))) return 0
  await deps.customerStore.insertAddress(tx, newEntry)
  await clearOtherDefaults(tx, deps, { ...newEntry, customerId: id })
  await audit(tx, deps, {
    actor,
    action: 'address.created',
    subject: newEntry.id,
    shopId: shop.id,
    ...addressDifference(undefined, newEntry),
  })
  return 1
}
