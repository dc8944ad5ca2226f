import type { Database } from '../../../../db/engine.ts'
import { system } from '../../../core/command-context.ts'
import type { Clock, Deps } from '../../../core/deps.ts'
import { OperatorError } from '../../../core/errors.ts'
import type { Keyring } from '../../../core/keyring.ts'
import { keyVersionOf } from '../../../lib/seal.ts'
import { agentKeySeal } from '../../agents/agent-settings/domain.ts'
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
/** Rows per write, to stay far below the 20 ms that a command may block a running server. */
const writeRows = 25
/** Time for servers to finish writes that were sealed under the old key. */
const settleMs = 2_000
const passesMax = 10

/** What the seal of each row is bound to. */
const sealContextOf: Record<SealedTable, (row: SealedRow) => string> = {
  agent_keys: ({ key: [kid = ''], owner: [shopId = ''] }) => agentKeySeal(shopId, kid),
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

/** Returns whether the database ever contained sealed secrets. Its keys must then not be created anew. */
export const hasSealedSecrets = async ({ read }: Database): Promise<boolean> => (await store.inUse(read)).length > 0

/** Returns the versions of the encryption keys in use, oldest first. */
export const versionsInUse = async ({ read }: Database): Promise<string[]> => (await store.inUse(read)).map(({ version }) => version)

/**
 * Returns the identity of an instance: its first key version, which is kept for ever. Also read by
 * db/sqlite/copy-manifest.ts.
 */
export const instanceIdentity = async ({ read }: Pick<Database, 'read'>): Promise<string | undefined> => (await store.first(read))?.version

/** Returns the versions of keys in use that are not available. */
export async function missingMasterKeys({ read }: Database, keyring: Pick<Keyring, 'encryption'>): Promise<string[]> {
  const availableKeys = keyring.encryption()
  const inUse = await store.inUse(read)
  return inUse.filter(({ fingerprint }) => !availableKeys.some((key) => key.fingerprint === fingerprint)).map(({ version }) => version)
}

/**
 * Compares the available keys with those of the database, and registers a new one.
 * @throws OperatorError if a key in use is missing, naming what to restore
 */
export async function confirmMasterKeys({ db, clock }: { db: Database; clock: Clock }, keyring: Keyring): Promise<void> {
  const missing = await missingMasterKeys(db, keyring)
  if (missing.length > 0) {
    throw new OperatorError(
      `The database has secrets encrypted with key ${missing.join(', ')}, which is missing: restore keys.json from your copy, or add the key to ENCRYPTION_KEY`,
    )
  }
  const [current] = keyring.encryption()
  if (!current || (await versionsInUse(db)).includes(current.version)) return
  const row = { version: current.version, fingerprint: current.fingerprint, createdAt: clock.now(), retiredAt: null }
  await db.write((tx) => store.register(tx, row))
}

type ResealDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'keyring' | 'sleep'>

/** Counts the sealed secrets under all keys. */
export async function countSealed({ read }: Database): Promise<number> {
  const counts = await Promise.all(tables.map((table) => store.countSealed(read, table)))
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * Registers the newest key, seals every secret under it, and retires the other keys. Works in small writes and can be
 * repeated.
 * @param onSeen receives the number of secrets read in the current pass
 * @throws OperatorError if a server still seals under another key
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
    // One pass is not enough: a server may have sealed under the old key while it ran.
    if (pass > 1 && found === 0) return { resealed, retired: await retireOtherKeys(deps) }
    await sleep(settleMs)
  }
  throw new OperatorError(
    'A server still uses another key: restart all servers with the new key first in ENCRYPTION_KEY, then run this command again',
  )
}

async function resealPass({ db, keyring }: ResealDeps, onSeen: (rows: number) => void): Promise<number> {
  const current = currentVersion(keyring)
  let resealed = 0
  for await (const { table, page } of sealedPages(db, onSeen)) {
    const stale = page.filter(({ sealed }) => keyVersionOf(sealed) !== current)
    for (let at = 0; at < stale.length; at += writeRows)
      resealed += await resealRows({ db, keyring }, table, stale.slice(at, at + writeRows))
  }
  return resealed
}

/** Yields every secret by page. @param onSeen receives the number of secrets read, after each page */
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
  const about = sealContextOf[table]
  const pairs = rows.map((row) => ({ row, resealed: keyring.seal(unsealOrThrow(keyring, table, row.sealed, about(row)), about(row)) }))
  return db.write(async (tx) => {
    let done = 0
    for (const { row, resealed } of pairs) if (await store.replaceSealed(tx, table, row, resealed)) done++
    return done
  })
}

function unsealOrThrow(keyring: Keyring, table: SealedTable, sealed: string, about: string): string {
  try {
    return keyring.unseal(sealed, about)
  } catch {
    throw new OperatorError(`A secret in ${table} can't be decrypted, so the old keys stay in use. Run \`souk check\` for details`)
  }
}

async function retireOtherKeys(deps: ResealDeps): Promise<string[]> {
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

/** Opens every secret. Returns those that do not open, and those that only a retired key opens. */
export async function findFaultySeals(
  { db, keyring }: { db: Database; keyring: Keyring },
  onSeen: (rows: number) => void = () => undefined,
): Promise<{ closed: SealFault[]; outdated: SealFault[] }> {
  const inUse = new Set(await versionsInUse(db))
  const closed = new Map<SealedTable, number>()
  const outdated = new Map<SealedTable, number>()
  const add = (to: Map<SealedTable, number>, table: SealedTable) => to.set(table, (to.get(table) ?? 0) + 1)
  for await (const { table, page } of sealedPages(db, onSeen)) {
    for (const row of page) {
      if (!canOpen(keyring, row.sealed, sealContextOf[table](row))) add(closed, table)
      else if (!inUse.has(keyVersionOf(row.sealed))) add(outdated, table)
    }
  }
  const faultsOf = (found: Map<SealedTable, number>) => [...found].map(([table, rows]) => ({ table, rows }))
  return { closed: faultsOf(closed), outdated: faultsOf(outdated) }
}

function canOpen(keyring: Keyring, sealed: string, about: string): boolean {
  try {
    keyring.unseal(sealed, about)
    return true
  } catch {
    return false
  }
}
