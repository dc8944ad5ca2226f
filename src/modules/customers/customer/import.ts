import { isUniqueViolation, type Writer } from '../../../../db/engine.ts'
import { type Actor, locking } from '../../../core/command-context.ts'
import { type CsvSource, type Rest, readRecords } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { defined } from '../../../lib/objects.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { type Columns, columnsOf, type ImportedCustomer, type ImportedRow, importedOf, type RowNote } from './csv-customers.ts'
import { addressesPerCustomerMax, type Customer } from './domain.ts'
import { importStore as store } from './import-store.ts'
import type { CustomerDeps } from './providers.ts'
import { addressDifference, customerDifference, leaveOneDefault, newAddress, newCustomer, type Shop } from './service.ts'

/** What came of a file of customers. `complete` is false when it was stopped before its end: what was stored by then stays. */
export type CustomersReport = {
  dryRun: boolean
  complete: boolean
  rows: number
  created: number
  updated: number
  skipped: number
  failed: number
  addresses: number
  errors: RowNote[]
  errorsTruncated: boolean
  notices: RowNote[]
  noticesTruncated: boolean
}

export type CustomersOptions = {
  readonly dryRun: boolean
  /** Those that are known are changed to what the file says; otherwise they are skipped. */
  readonly overwrite: boolean
  readonly rowsMax?: number
  /** Told how many bytes were read, and how many rows were stored or refused, and how many of them were refused. */
  readonly onProgress?: (bytesRead: number, rows: number, failed: number) => void
  /** Ends the import after the rows that are at work. */
  readonly signal?: AbortSignal
  /** Between two pieces: lets others have the thread. */
  readonly rest?: Rest
}

/** So many rows share a write; more would hold up other writers. */
const rowsAtOnce = 32
const notesMax = 1_000
const triesMax = 5
const turn: Rest = () => new Promise((resume) => setImmediate(resume))

type By = { readonly shop: Shop; readonly actor: Actor }

/**
 * Stores the customers of a Shopify export. They are known again by their e-mail address, so that a file can be imported any number of times, and
 * again after a crash. They get no password and no mail. A bad row is left out and named; the others are stored.
 * @throws AppError INVALID for a file that is none; TOO_LARGE for one of more than `rowsMax` rows
 */
export async function importCustomers(deps: CustomerDeps, by: By, source: CsvSource, options: CustomersOptions): Promise<CustomersReport> {
  const { dryRun, onProgress, signal, rowsMax = Number.POSITIVE_INFINITY, rest = turn } = options
  const report: CustomersReport = {
    ...{ dryRun, complete: true, rows: 0, created: 0, updated: 0, skipped: 0, failed: 0, addresses: 0 },
    ...{ errors: [], errorsTruncated: false, notices: [], noticesTruncated: false },
  }
  /** Who a dry run would have made by now. */
  const seen = new Set<string>()
  let columns: Columns | undefined
  let batch: ImportedRow[] = []
  const flush = async () => {
    await importRows(deps, by, batch, options, report, seen)
    batch = []
    await rest()
    signal?.throwIfAborted()
  }
  try {
    const progress = onProgress && ((bytes: number) => onProgress(bytes, report.rows, report.failed))
    for await (const records of readRecords(source, { rest, ...(progress ? { onProgress: progress } : {}) })) {
      for (const record of records) {
        if (record.cells.every((cell) => cell.trim() === '')) continue
        if (!columns) {
          columns = columnsOf(record)
          if (columns.ignored.length > 0)
            note(report, { row: 1, message: `not taken, as souk has no place for it: ${columns.ignored.join(', ')}` })
          continue
        }
        if (report.rows + batch.length >= rowsMax) throw tooMany(rowsMax, report)
        batch.push(importedOf(columns, record))
        if (batch.length >= rowsAtOnce) await flush()
      }
    }
    if (!columns) throw new AppError('INVALID', 'The file is empty')
    await flush()
  } catch (error) {
    if (!signal?.aborted || error !== signal.reason) throw withStored(error, report)
    report.complete = false
  }
  return report
}

const storedText = ({ dryRun, created, updated }: CustomersReport): string =>
  dryRun ? 'nothing was stored' : `${created} customers before it were created and ${updated} changed, and that stays`

const tooMany = (most: number, report: CustomersReport) =>
  new AppError(
    'TOO_LARGE',
    `The file has more than ${most} rows: split it, or use the command souk import --customers. ${storedText(report)}`,
  )

/** A file that turns out to be none in its middle: what was stored of it by then stays, and is told of. */
const withStored = (error: unknown, report: CustomersReport): unknown =>
  error instanceof AppError && error.code === 'INVALID' && report.created + report.updated > 0
    ? new AppError('INVALID', `${error.message} ${storedText(report)}`)
    : error

/** What is said of an import over HTTP that was stopped before the end of its file. */
export const customersStopped = (report: CustomersReport): AppError =>
  new AppError(
    'UNAVAILABLE',
    `The import took too long and was stopped after ${report.rows} rows: ${storedText(report)}. Send the rest of the file`,
    {
      retryAfterSeconds: 1,
    },
  )

type Done = { kind: 'created' | 'updated' | 'skipped'; addresses: number } | { kind: 'failed'; message: string }

async function importRows(
  deps: CustomerDeps,
  by: By,
  batch: readonly ImportedRow[],
  options: CustomersOptions,
  report: CustomersReport,
  seen: Set<string>,
): Promise<void> {
  const good = batch.filter((row): row is ImportedCustomer => !('error' in row))
  const done = options.dryRun ? await looked(deps, by, good, options, seen) : await stored(deps, by, good, options)
  let nth = 0
  for (const row of batch) {
    report.rows++
    if ('error' in row) {
      fail(report, row.error)
      continue
    }
    const result = done[nth++]
    if (!result || result.kind === 'failed') {
      fail(report, { row: row.row, message: result?.message ?? '' })
      continue
    }
    report[result.kind]++
    report.addresses += result.addresses
    if (result.kind !== 'skipped') for (const one of row.notices) note(report, one)
  }
}

/** What would be done, by what is there and what came before in the file. */
async function looked(
  { db }: CustomerDeps,
  { shop }: By,
  rows: readonly ImportedCustomer[],
  { overwrite }: CustomersOptions,
  seen: Set<string>,
): Promise<Done[]> {
  const found = await store.withEmails(db.read, shop.id, rows.map(emailOf))
  const known = new Set(found.map(emailOf))
  return rows.map(({ email, address }) => {
    const isKnown = known.has(email) || seen.has(email)
    seen.add(email)
    if (isKnown && !overwrite) return { kind: 'skipped', addresses: 0 }
    return { kind: isKnown ? 'updated' : 'created', addresses: address && !isKnown ? 1 : 0 }
  })
}

const emailOf = ({ email }: { readonly email: string }): string => email

/** Somebody may sign up with one of the addresses at the same time: then they are there when they are looked for again. */
async function stored(deps: CustomerDeps, by: By, rows: readonly ImportedCustomer[], options: CustomersOptions): Promise<Done[]> {
  if (rows.length === 0) return []
  for (let tries = 1; ; tries++) {
    try {
      return await deps.db.write((tx) => storeRows(tx, deps, by, rows, options), locking)
    } catch (error) {
      if (!isUniqueViolation(error) || tries === triesMax) throw error
    }
  }
}

async function storeRows(
  tx: Writer,
  deps: CustomerDeps,
  by: By,
  rows: readonly ImportedCustomer[],
  { overwrite }: CustomersOptions,
): Promise<Done[]> {
  const { shop } = by
  const found = await store.withEmails(tx, shop.id, rows.map(emailOf))
  const locked = overwrite
    ? await store.lock(
        tx,
        found.map(({ id }) => id),
      )
    : []
  const known = new Map<string, Customer | undefined>(found.map(({ email }) => [email, undefined]))
  // As they stand now: one whose address was changed meanwhile is somebody else.
  for (const customer of locked) known.set(customer.email, customer)
  const done: Done[] = []
  for (const row of rows) {
    const before = known.get(row.email)
    if (known.has(row.email) && (!overwrite || !before)) {
      done.push({ kind: 'skipped', addresses: 0 })
      continue
    }
    const after = before ? await change(tx, deps, by, before, row) : await make(tx, deps, by, row)
    known.set(row.email, after)
    done.push({ kind: before ? 'updated' : 'created', addresses: await keepAddress(tx, deps, by, after, row.address) })
  }
  return done
}

async function make(
  tx: Writer,
  deps: CustomerDeps,
  { shop, actor }: By,
  { email, name, phone, acceptsMarketing }: ImportedCustomer,
): Promise<Customer> {
  const customer = newCustomer(deps, {
    shopId: shop.id,
    email,
    name: name ?? '',
    phone: phone ?? null,
    acceptsMarketing: acceptsMarketing ?? false,
  })
  await deps.customerStore.insert(tx, customer)
  const entry = { actor, action: 'customer.created', subject: customer.id, shopId: shop.id }
  await audit(tx, deps, { ...entry, ...customerDifference(customer) })
  return customer
}

async function change(tx: Writer, deps: CustomerDeps, { shop, actor }: By, before: Customer, row: ImportedCustomer): Promise<Customer> {
  const { name, phone, acceptsMarketing } = row
  const said = defined({ name, phone, acceptsMarketing })
  const isSame = (Object.keys(said) as (keyof typeof said)[]).every((field) => said[field] === before[field])
  if (isSame) return before
  const after = (await deps.customerStore.change(tx, before.id, { ...said, updatedAt: deps.clock.now() })) ?? before
  const told = ({ passwordHash: _, ...rest }: Customer) => rest
  const difference = differenceOf(told(before), told(after), ['acceptsMarketing'])
  await audit(tx, deps, { actor, action: 'customer.changed', subject: before.id, shopId: shop.id, ...difference })
  return after
}

/** Puts the address of the file into the book, as the default of both kinds where there was none; one that is there already stays. How many it put there. */
async function keepAddress(
  tx: Writer,
  deps: CustomerDeps,
  { shop, actor }: By,
  { id }: Customer,
  address: ImportedCustomer['address'],
): Promise<number> {
  if (!address) return 0
  const book = await store.bookOf(tx, id)
  const text = (one: object) => JSON.stringify(one)
  const isFirst = book.length === 0
  const made = newAddress(deps, shop, address, { customerId: id, isDefaultShipping: isFirst, isDefaultBilling: isFirst })
  if (book.length >= addressesPerCustomerMax || book.some((one) => text(one.address) === text(made.address))) return 0
  await deps.customerStore.insertAddress(tx, made)
  await leaveOneDefault(tx, deps, { ...made, customerId: id })
  await audit(tx, deps, { actor, action: 'address.created', subject: made.id, shopId: shop.id, ...addressDifference(undefined, made) })
  return 1
}

function fail(report: CustomersReport, error: RowNote): void {
  report.failed++
  if (report.errors.length < notesMax) report.errors.push(error)
  else report.errorsTruncated = true
}

function note(report: CustomersReport, one: RowNote): void {
  if (report.notices.length < notesMax) report.notices.push(one)
  else report.noticesTruncated = true
}
