import type { Database } from '../../../../db/engine.ts'
import { system } from '../../../core/command-context.ts'
import type { Clock, Deps } from '../../../core/deps.ts'
import { OperatorError } from '../../../core/errors.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { sealedBy } from '../../../lib/seal.ts'
import { secretSeal } from '../../lending/lending-document/domain.ts'
import { mailSeal } from '../../messaging/mail/domain.ts'
import { webhookSecretSeal } from '../../messaging/webhook/domain.ts'
import { audit } from '../../operations/audit/index.ts'
import { answerSeal } from '../../operations/idempotency/domain.ts'
import { paymentTokenSeal } from '../../payments/payment/domain.ts'
import { accountSeal } from '../../payments/processor-account/domain.ts'
import { keySeal, walletSeal } from '../../shop/shop/domain.ts'
import { providerSecretSeal } from '../../trust/service-provider/domain.ts'
import { instanceKeySeal } from '../instance-key/domain.ts'
import { totpSeal } from '../second-factor/domain.ts'
import { type SealedRow, type SealedTable, sealedColumns, masterKeyStore as store } from './store.ts'

const tables = Object.keys(sealedColumns) as SealedTable[]
const pageRows = 200
/** Rows of one write: far below the 20 ms that a command may hold the database beside a running server. */
const writeRows = 25
/** What was sealed under the old key just before the change is stored by then. */
const settleMs = 2_000
const passesMax = 10

/** What the seal of a row is bound to. */
const aboutOf: Record<SealedTable, (row: SealedRow) => string> = {
  api_keys: ({ key: [id = ''], owner: [shopId = ''] }) => keySeal(shopId, id),
  wallets: ({ key: [shopId = ''] }) => walletSeal(shopId),
  idempotency_keys: ({ key: [scope = '', key = ''] }) => answerSeal(scope, key),
  instance_keys: ({ key: [purpose = ''] }) => instanceKeySeal(purpose),
  lending_documents: ({ key: [id = ''], owner: [applicationId = '', key = ''] }) => secretSeal({ id, applicationId, key }),
  mails: ({ key: [id = ''] }) => mailSeal(id),
  payments: ({ key: [id = ''] }) => paymentTokenSeal(id),
  processor_accounts: ({ key: [id = ''], owner: [shopId = '', processor = ''] }) => accountSeal({ id, shopId, processor }),
  second_factors: ({ key: [userId = ''] }) => totpSeal(userId),
  service_providers: ({ key: [id = ''] }) => providerSecretSeal(id),
  webhook_endpoints: ({ key: [id = ''], owner: [shopId = ''] }) => webhookSecretSeal(shopId, id),
}

/** Whether secrets were ever sealed in this database: then its keys are never made anew. */
export const hasSealedSecrets = async ({ read }: Database): Promise<boolean> => (await store.inUse(read)).length > 0

/** Versions of the encryption keys that the database counts on, oldest first. */
export const versionsInUse = async ({ read }: Database): Promise<string[]> => (await store.inUse(read)).map(({ version }) => version)

/** What tells an instance from others: its first key stays in its database for ever, whichever took its place. As db/sqlite/copy-manifest.ts has it. */
export const firstVersion = async ({ read }: Pick<Database, 'read'>): Promise<string | undefined> => (await store.first(read))?.version

/** Versions of the keys that the database counts on and that are not at hand. */
export async function missingMasterKeys({ read }: Database, keyring: Pick<Keyring, 'encryption'>): Promise<string[]> {
  const atHand = keyring.encryption()
  const inUse = await store.inUse(read)
  return inUse.filter(({ fingerprint }) => !atHand.some((key) => key.fingerprint === fingerprint)).map(({ version }) => version)
}

/**
 * Holds the keys at hand against those that the database was sealed with, and registers a new one.
 * @throws OperatorError that says what to restore when a key in use is missing
 */
export async function confirmMasterKeys({ db, clock }: { db: Database; clock: Clock }, keyring: Keyring): Promise<void> {
  const missing = await missingMasterKeys(db, keyring)
  if (missing.length > 0) {
    throw new OperatorError(
      `The database holds secrets sealed under encryption key ${missing.join(', ')}, which is not at hand: restore keys.json from your copy, or put that key into ENCRYPTION_KEY`,
    )
  }
  const [current] = keyring.encryption()
  if (!current || (await versionsInUse(db)).includes(current.version)) return
  const row = { version: current.version, fingerprint: current.fingerprint, createdAt: clock.now(), retiredAt: null }
  await db.write((tx) => store.register(tx, row))
}

type ResealDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'keyring' | 'sleep'>

/** How many secrets are sealed, under whichever key. */
export async function countSealed({ read }: Database): Promise<number> {
  const counts = await Promise.all(tables.map((table) => store.countSealed(read, table)))
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Registers the newest key, seals every secret anew under it, and retires the others once none is sealed under them.
 * Every step is a small write of its own that finds what is left to do by itself: run again, it goes on.
 * @param onSeen told how many secrets were looked at in the pass under way
 * @throws OperatorError when a server keeps sealing under another key
 */
export async function resealSecrets(
  deps: ResealDeps,
  onSeen: (rows: number) => void = () => undefined,
): Promise<{ resealed: number; retired: string[] }> {
  const { keyring, sleep } = deps
  await confirmMasterKeys(deps, keyring)
  let resealed = 0
  for (let pass = 1; pass <= passesMax; pass++) {
    const found = await resealPass(deps, onSeen)
    resealed += found
    // The first pass proves nothing yet: a server may have sealed under the old key while it ran.
    if (pass > 1 && found === 0) return { resealed, retired: await retireOthers(deps) }
    await sleep(settleMs)
  }
  throw new OperatorError(
    'A server still seals under another key: restart every server with the new key first in ENCRYPTION_KEY, then run this again',
  )
}

async function resealPass({ db, keyring }: ResealDeps, onSeen: (rows: number) => void): Promise<number> {
  const current = currentVersion(keyring)
  let resealed = 0
  for await (const { table, page } of sealedPages(db, onSeen)) {
    const stale = page.filter(({ sealed }) => sealedBy(sealed) !== current)
    for (let at = 0; at < stale.length; at += writeRows)
      resealed += await resealRows({ db, keyring }, table, stale.slice(at, at + writeRows))
  }
  return resealed
}

/** Every secret, page by page. @param onSeen told how many were looked at, after each page */
async function* sealedPages({ read }: Database, onSeen: (rows: number) => void): AsyncGenerator<{ table: SealedTable; page: SealedRow[] }> {
  let seen = 0
  for (const table of tables) {
    let page: SealedRow[] = []
    do {
      page = await store.pageOfSealed(read, table, page.at(-1)?.key, pageRows)
      if (page.length === 0) break
      yield { table, page }
      seen += page.length
      onSeen(seen)
    } while (page.length === pageRows)
  }
}

async function resealRows(
  { db, keyring }: Pick<ResealDeps, 'db' | 'keyring'>,
  table: SealedTable,
  rows: readonly SealedRow[],
): Promise<number> {
  const about = aboutOf[table]
  const pairs = rows.map((row) => ({ row, resealed: keyring.seal(openOrRefuse(keyring, table, row.sealed, about(row)), about(row)) }))
  return db.write(async (tx) => {
    let done = 0
    for (const { row, resealed } of pairs) if (await store.replaceSealed(tx, table, row, resealed)) done++
    return done
  })
}

function openOrRefuse(keyring: Keyring, table: SealedTable, sealed: string, about: string): string {
  try {
    return keyring.unseal(sealed, about)
  } catch {
    throw new OperatorError(`A secret in ${table} does not open, so the old keys stay in use: \`souk check\` tells more`)
  }
}

async function retireOthers(deps: ResealDeps): Promise<string[]> {
  const { db, clock, keyring } = deps
  const current = currentVersion(keyring)
  const others = (await versionsInUse(db)).filter((version) => version !== current)
  if (others.length === 0) return []
  return db.write(async (tx) => {
    const retired = await store.retire(tx, others, clock.now())
    const change = { before: { versions: [...retired, current] }, after: { versions: [current] } }
    if (retired.length > 0) await audit(tx, deps, { actor: system, action: 'encryption_key.rotated', subject: current, ...change })
    return retired
  })
}

function currentVersion(keyring: Pick<Keyring, 'encryption'>): string {
  const [current] = keyring.encryption()
  if (!current) throw new Error('no encryption key')
  return current.version
}

export type SealFault = { table: SealedTable; rows: number }

/** Opens every secret and tells of those that do not open, and of those that only a retired key opens. */
export async function faultySeals(
  { db, keyring }: { db: Database; keyring: Keyring },
  onSeen: (rows: number) => void = () => undefined,
): Promise<{ closed: SealFault[]; outdated: SealFault[] }> {
  const inUse = new Set(await versionsInUse(db))
  const closed = new Map<SealedTable, number>()
  const outdated = new Map<SealedTable, number>()
  const add = (to: Map<SealedTable, number>, table: SealedTable) => to.set(table, (to.get(table) ?? 0) + 1)
  for await (const { table, page } of sealedPages(db, onSeen)) {
    for (const row of page) {
      if (!opens(keyring, row.sealed, aboutOf[table](row))) add(closed, table)
      else if (!inUse.has(sealedBy(row.sealed))) add(outdated, table)
    }
  }
  const faults = (found: Map<SealedTable, number>) => [...found].map(([table, rows]) => ({ table, rows }))
  return { closed: faults(closed), outdated: faults(outdated) }
}

function opens(keyring: Keyring, sealed: string, about: string): boolean {
  try {
    keyring.unseal(sealed, about)
    return true
  } catch {
    return false
  }
}
