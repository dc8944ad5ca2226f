import { statSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { type Database, engineErrorCode } from '../../db/engine.ts'
import { miscountedBlocks } from '../../db/list-pages.ts'
import { postgresMigrations } from '../../db/migrations/index.ts'
import { databaseFile } from '../../db/open.ts'
import { pendingPostgres } from '../../db/postgres/migrate.ts'
import { openBackgroundReader } from '../../db/sqlite/background-reader.ts'
import type { Config } from '../config.ts'
import { isPictureStore, storeKinds } from '../core/documents.ts'
import { OperatorError } from '../core/errors.ts'
import { type CheckContext, checkRules, type Finding, problemsMax } from '../core/integrity-check.ts'
import { createKeyring } from '../keys.ts'
import { agentSessionFindings } from '../modules/agents/agent-session/index.ts'
import { checkingProviders, countPictureFiles, describePictureDifferences, findPictureFaults } from '../modules/catalog/media/index.ts'
import { findCatalogInconsistencies } from '../modules/catalog/products/index.ts'
import { findCustomerInconsistencies } from '../modules/customers/customer/index.ts'
import { findErasureInconsistencies } from '../modules/customers/erasure/index.ts'
import { countSealed, findFaultySeals, hasSealedSecrets, missingMasterKeys, type SealFault } from '../modules/identity/master-key/index.ts'
import { findStaffInconsistencies } from '../modules/identity/member/index.ts'
import {
  countDocuments,
  documentFaults,
  foreignMarkOf,
  isStoreUnavailable,
  lendingDocumentProviders,
  orphanedFiles,
  otherStoreText,
} from '../modules/lending/lending-document/index.ts'
import { checkRepayments } from '../modules/lending/repayment/index.ts'
import { findMailInconsistencies } from '../modules/messaging/mail/index.ts'
import { checkKpis } from '../modules/operations/kpi/index.ts'
import { bookFindings } from '../modules/payments/ledger/index.ts'
import { draftFindings } from '../modules/selling/draft-order/index.ts'
import { orderFindings } from '../modules/selling/order/index.ts'
import { checkTrustFabric } from '../modules/trust/fabric/index.ts'
import type { Input } from './command.ts'
import { findProblemsWithProgress } from './copy-database.ts'
import { openReadOnly, readOnlyDeps } from './database-command.ts'
import { inspectFile, noInstance } from './database-file.ts'
import { explain, failureStatus } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { createProgress, whileWaiting } from './progress.ts'

const listingProblemsMax = 20

/** `souk check`: looks for damage and changes nothing. */
export async function check({ config: settings }: Input): Promise<number> {
  const config = settings()
  let failed = false
  const interruption = onInterruption(() => 'Stopped. Nothing was changed. Parts without a line above were not checked. Run it again')
  for await (const { subject, problems, isWork } of listFindings(config)) {
    const lines = problems.map((problem) => `      ${problem}\n`).join('')
    if (problems.length === 0) process.stdout.write(`ok    ${subject}\n`)
    else if (isWork) process.stdout.write(`TO DO ${subject}\n${lines}`)
    else process.stderr.write(`FAIL  ${subject}\n${lines}`)
    failed ||= problems.length > 0 && !isWork
  }
  interruption.end()
  return failed ? failureStatus : 0
}

/** Yields findings one by one; skips what an earlier finding makes impossible. */
export async function* listFindings(config: Config): AsyncGenerator<Finding> {
  const file = config.databaseUrl.startsWith('file:') ? databaseFile(config.databaseUrl) : undefined
  const started = file === undefined ? undefined : startSumFindings(file)
  try {
    if (file !== undefined) {
      const sound = await integrityFinding(file)
      yield sound
      if (sound.problems.length > 0) return
    }
    const migrations = await migrationState(config)
    yield migrations
    if (migrations.problems.length > 0) return
    const db = openReadOnly(config)
    try {
      yield* contentFindings(config, db)
      yield* started === undefined ? sumFindings(db) : started.findings()
    } finally {
      await db.close()
    }
  } finally {
    started?.close()
  }
}

/** Compares stored sums with their parts. Only reads. */
async function* sumFindings(db: CheckContext): AsyncGenerator<Finding> {
  yield* bookAndTrustFindings(db)
  yield* checkKpis(db.read)
}

async function* bookAndTrustFindings(db: CheckContext): AsyncGenerator<Finding> {
  yield* bookFindings(db)
  yield* orderFindings(db)
  yield* draftFindings(db)
  yield* agentSessionFindings(db)
  yield* checkRepayments(db)
  yield* checkTrustFabric(db)
  yield* findMailInconsistencies(db)
  yield* findCustomerInconsistencies(db)
  yield* longListFindings(db)
  yield* findStaffInconsistencies(db)
  yield* findErasureInconsistencies(db)
}

/** Starts the comparison of a file in threads while its pages are checked. Unused if the file is damaged. */
function startSumFindings(file: string): { findings(): AsyncGenerator<Finding>; close(): void } {
  const [one, other] = [openBackgroundReader(file, true), openBackgroundReader(file, true)]
  const results = [Array.fromAsync(bookAndTrustFindings({ read: one })), Array.fromAsync(checkKpis(other))]
  for (const findings of results) findings.catch(() => undefined)
  return {
    async *findings() {
      for (const findings of results) yield* await whileWaiting('Checking totals', process.stderr, findings)
    },
    close() {
      one.close()
      other.close()
    },
  }
}

async function integrityFinding(file: string): Promise<Finding> {
  const subject = 'database file'
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) throw noInstance(file)
  // SQLite takes an empty file for a database without tables.
  if (stats.size === 0) return { subject, problems: [`${file} is empty: restore a backup, or correct DATA_DIR`] }
  try {
    return { subject, problems: await findProblemsWithProgress(file) }
  } catch (error) {
    // SQLite fails to open a badly damaged file: that is the finding.
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(engineErrorCode(error) ?? '')) return { subject, problems: [explain(error, {}).text] }
    throw error
  }
}

async function migrationState(config: Config): Promise<Finding> {
  const { databaseUrl } = config
  const pending = databaseUrl.startsWith('file:')
    ? inspectFile(databaseFile(databaseUrl)).pending.map(({ tag }) => tag)
    : await pendingPostgres(databaseUrl, postgresMigrations)
  return {
    subject: 'migrations',
    problems:
      pending.length === 0
        ? []
        : [`The database is older than this version (missing: ${pending.join(', ')}): start souk once to migrate it`],
  }
}

async function* contentFindings(config: Config, db: Database): AsyncGenerator<Finding> {
  const keys = await keyState(config, db)
  yield keys
  if (keys.problems.length === 0) yield await sealState(config, db)
  if (keys.problems.length === 0) yield* documentFindings(config, db)
  yield { subject: 'listings', problems: await listingProblems(db) }
  yield* findCatalogInconsistencies(db)
}

const faultTexts = {
  MISSING: 'its file is missing',
  ALTERED: 'its file was changed or is damaged',
  UNREACHABLE: "its store doesn't answer, or is not in the settings",
} as const

/** Reads every lending document completely and looks for files without a document. */
async function* documentFindings(config: Config, db: Database): AsyncGenerator<Finding> {
  const { clock, log } = readOnlyDeps
  const parts = { ...lendingDocumentProviders({ db, config, log, sleep: Bun.sleep }), clock }
  yield* storeFindings(config, parts)
  const total = await countDocuments(parts)
  const problems: string[] = []
  if (total > 0) {
    const progress = createProgress({ total, label: 'Checking documents', stream: process.stderr, unit: 'documents' })
    const faults = documentFaults({ ...parts, keyring: createKeyring(config, false) }, progress.at)
    try {
      for await (const { document, fault } of faults) problems.push(`${document.applicationId}, ${document.key}: ${faultTexts[fault]}`)
    } finally {
      progress.end()
    }
  }
  yield { subject: 'documents', problems: limitProblems(problems) }
  const subject = 'files without a document'
  const orphans: string[] = []
  try {
    for await (const { store, file } of orphanedFiles(parts)) orphans.push(`${file.name} in ${placeOf(store.kind)}`)
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error
    yield { subject, problems: ["The bucket doesn't answer, or rejects the key of the settings"] }
  }
  if (orphans.length > 0) yield { subject, problems: ['The server removes them within an hour:', ...limitProblems(orphans)], isWork: true }
  yield* pictureFindings({ ...parts, ...checkingProviders(db) })
}

/** Reads every picture completely and compares the counts of shops with their pictures. */
async function* pictureFindings(parts: Parameters<typeof findPictureFaults>[0]): AsyncGenerator<Finding> {
  const total = await countPictureFiles(parts)
  const problems: string[] = []
  if (total > 0) {
    const progress = createProgress({ total, label: 'Checking images', stream: process.stderr, unit: 'files' })
    try {
      for await (const { file, fault } of findPictureFaults(parts, progress.at))
        problems.push(`${file.hash}${file.width > 0 ? `-${file.width}` : ''}: ${faultTexts[fault]}`)
    } finally {
      progress.end()
    }
  }
  yield { subject: 'pictures', problems: limitProblems([...problems, ...(await describePictureDifferences(parts))]) }
}

const placeOf = (kind: (typeof storeKinds)[number]): string =>
  kind === 'S3' || kind === 'MEDIA_S3' ? 'the bucket' : isPictureStore(kind) ? 'DATA_DIR/media' : 'DATA_DIR/documents'

/** Checks that the configured stores are those of the documents and pictures. */
async function* storeFindings(config: Config, parts: Parameters<typeof foreignMarkOf>[0]): AsyncGenerator<Finding> {
  for (const kind of storeKinds) {
    const store = parts.documentStores.of(kind)
    // An unavailable store is reported for each of its documents.
    const mark =
      store &&
      (await foreignMarkOf(parts, store).catch((error: unknown) => (isStoreUnavailable(error) ? undefined : Promise.reject(error))))
    if (mark !== undefined)
      yield { subject: `store of ${isPictureStore(kind) ? 'pictures' : 'documents'}`, problems: [otherStoreText(kind, mark, config)] }
  }
}

const limitProblems = (problems: readonly string[]): string[] =>
  problems.length <= problemsMax ? [...problems] : [...problems.slice(0, problemsMax), `and ${problems.length - problemsMax} more`]

async function keyState(config: Config, db: Database): Promise<Finding> {
  const subject = 'keys'
  // Checking must not create a key file.
  if (!(await hasSealedSecrets(db))) return { subject, problems: [] }
  try {
    const missing = await missingMasterKeys(db, createKeyring(config, false))
    return {
      subject,
      problems: missing.map(
        (version) => `Encryption key ${version} is missing: restore keys.json from your copy, or add the key to ENCRYPTION_KEY`,
      ),
    }
  } catch (error) {
    if (error instanceof OperatorError) return { subject, problems: [error.message] }
    throw error
  }
}

async function sealState(config: Config, db: Database): Promise<Finding> {
  const subject = 'sealed secrets'
  if (!(await hasSealedSecrets(db))) return { subject, problems: [] }
  const progress = createProgress({ total: await countSealed(db), label: 'Checking secrets', stream: process.stderr, unit: 'secrets' })
  const { closed, outdated } = await findFaultySeals({ db, keyring: createKeyring(config, false) }, progress.at).finally(progress.end)
  const say = (faults: SealFault[], what: string) => faults.map(({ table, rows }) => `${table}: ${rows} ${what}`)
  return {
    subject,
    problems: [
      ...say(closed, "can't be decrypted with the available keys"),
      ...say(outdated, 'are encrypted with a retired key: run `souk rotate-keys`'),
    ],
  }
}

/** Compares the listings' counts of each shop with its products, in one statement for consistency. */
async function listingProblems({ read }: Database): Promise<string[]> {
  const rows = await read.rows<{ shop: string; sort: string; documents: number; counted: number }>(sql`
    with documents as (select shop_id, count(*) as n from product_documents group by shop_id),
      changes as (select shop_id, sum(documents) as n from listing_changes group by shop_id),
      anchors as (select shop_id, sort, sum(documents) as n from listing_anchors group by shop_id, sort),
      shops_with_any as (select shop_id from documents union select shop_id from changes union select shop_id from anchors),
      sorts as (select 'newest' as sort union all select 'title' union all select 'price')
    select s.shop_id as shop, o.sort as sort, cast(coalesce(d.n, 0) as integer) as documents, cast(coalesce(a.n, 0) + coalesce(c.n, 0) as integer) as counted
    from shops_with_any s cross join sorts o
      left join documents d on d.shop_id = s.shop_id
      left join changes c on c.shop_id = s.shop_id
      left join anchors a on a.shop_id = s.shop_id and a.sort = o.sort
    where coalesce(d.n, 0) <> coalesce(a.n, 0) + coalesce(c.n, 0)
    order by s.shop_id, o.sort limit ${listingProblemsMax}`)
  return rows.map(({ shop, sort, documents, counted }) => `Shop ${shop}, sorted by ${sort}: counted ${counted} of ${documents}`)
}

/** Compares the totals of shops' long lists with their rows. */
export const longListFindings = (db: CheckContext): AsyncGenerator<Finding> =>
  checkRules(db, [
    {
      subject: 'pages of long lists',
      broken: miscountedBlocks,
      say: ({ list, shop_id, last, records, found }) => `Shop ${shop_id}, ${list} up to ${last}: counted ${records} of ${found}`,
    },
  ])
