import type { Writer } from '../../../../db/engine.ts'
import type { RefusalAudit } from '../../../core/audit-fields.ts'
import { type Actor, type CommandContext, type Origin, system } from '../../../core/command-context.ts'
import { type DateRange, timeRangeOf, timesOf } from '../../../core/date-range.ts'
import type { Deps } from '../../../core/deps.ts'
import { runUntracked } from '../../../core/request-context.ts'
import { inBatches } from '../../../lib/batches.ts'
import { addDays, dayOf, hourMs, startOfDay } from '../../../lib/day.ts'
import { limitKeyOf } from '../../../lib/networks.ts'
import { pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import {
  type AuditEntry,
  type AuditRow,
  type AuditView,
  anonymousActions,
  anonymousRowsPerHour,
  auditView,
  countAnonymousRows,
  customerSessionDays,
  type Difference,
  isRecordedFailure,
  limitLength,
  searchTermOf,
} from './domain.ts'
import { type AuditFilter, auditListStore as listStore } from './list-store.ts'
import { auditStore as store, type WhichRows } from './store.ts'

type Entry = AuditEntry & Partial<Difference> & { actor: Actor; shopId?: string | undefined }
type AuditDeps = Pick<Deps, 'clock' | 'newId'>

const rowOf = ({ clock, newId }: AuditDeps, { actor, action, subject, shopId, before, after }: Entry): AuditRow => ({
  id: newId('audit'),
  at: clock.now(),
  actor: actor.id,
  action,
  subject,
  shopId: shopId ?? null,
  requestId: actor.requestId ?? null,
  address: actor.address ?? null,
  before: limitLength(before),
  after: limitLength(after),
})

/**
 * Writes an audit row in the write that it describes. `before` and `after` contain no personal data and no secrets; see
 * `differenceOf`.
 */
export const audit = (tx: Writer, deps: AuditDeps, entry: Entry): Promise<void> => store.insert(tx, rowOf(deps, entry))

/** Sets the difference that `audited` records. */
export type SetDifference = (difference: Partial<Difference>) => void

/**
 * Runs a change and writes its audit row in the same commit.
 * @param work sets the difference with its second argument
 * @returns the result of `work`, which an idempotent request stores as its answer
 */
export function audited<T>(
  deps: Pick<Deps, 'db' | 'clock' | 'newId'>,
  { actor, shop, write = deps.db.write }: Pick<CommandContext, 'actor' | 'write'> & Partial<Pick<CommandContext, 'shop'>>,
  entry: AuditEntry,
  work: (tx: Writer, setDifference: SetDifference) => Promise<T>,
): Promise<T> {
  return write(async (tx) => {
    let difference: Partial<Difference> = {}
    const result = await work(tx, (changes) => {
      difference = changes
    })
    const isNoChange = difference.before === null && difference.after === null
    if (!isNoChange) await audit(tx, deps, { ...entry, ...difference, actor, shopId: shop?.id })
    return result
  })
}

export const { count: countActions, nthLast: nthLastActionAt } = store

type RefusalDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'log'>

/**
 * Records a refusal. Rows are limited, since refusals need no account. A failure to record does not undo the refusal.
 * @param onceAnHour skips the row if the last hour has an equal one
 * @param isOperator the actor has an operator account; their rows have a limit of their own, so that others cannot use
 *   it up
 */
async function recordRefusal(deps: RefusalDeps, entry: Entry, onceAnHour: boolean, isOperator = false): Promise<void> {
  const row = rowOf(deps, entry)
  const since = row.at - hourMs
  const rowToInsert = async (from: Pick<Writer, 'select'>): Promise<AuditRow | 'too many' | undefined> => {
    const rows = countAnonymousRows(await store.countAnonymous(from, since, isOperator ? row.actor : undefined), row.address)
    const bounds = Object.entries(anonymousRowsPerHour) as [keyof typeof rows, number][]
    if (bounds.some(([name, limit]) => rows[name] > limit)) return 'too many'
    const reached = bounds.find(([name, limit]) => rows[name] === limit)
    if (reached) {
      const [subject, rowsPerHour] = reached
      return {
        ...row,
        actor: isOperator ? row.actor : 'anonymous',
        action: anonymousActions.suppressed,
        subject,
        shopId: null,
        after: { rowsPerHour },
      }
    }
    return onceAnHour && (await store.hasRecent(from, row, since)) ? undefined : row
  }
  try {
    // Reads the last commit first, so that a flood of refusals writes nothing.
    let pending = await rowToInsert(deps.db.read)
    if (typeof pending === 'object')
      await runUntracked(() =>
        deps.db.write(async (tx) => {
          pending = await rowToInsert(tx)
          if (typeof pending === 'object') await store.insert(tx, pending)
        }),
      )
    // Suppressed rows are only logged.
    if (pending === 'too many' || pending?.action === anonymousActions.suppressed)
      deps.log.warn('audit.suppressed', pick({ ...row, address: row.address ?? undefined }, 'actor', 'action', 'subject', 'address'))
  } catch (error) {
    deps.log.warn('audit.refusal_not_noted', { action: entry.action, error })
  }
}

export type FailedLogin = {
  /** Undefined for an unknown account. */
  accountId: string | undefined
  shopId?: string | undefined
  from: Origin
  /** The failures of this account from this address within the window, including this one. */
  failures: number
}

/** Records a failed login. It costs the same for existing and unknown accounts. */
export async function recordFailedLogin(
  deps: RefusalDeps,
  { accountId = 'anonymous', shopId, from, failures }: FailedLogin,
): Promise<void> {
  if (!isRecordedFailure(failures)) return
  await recordRefusal(
    deps,
    { actor: { ...from, id: accountId }, action: anonymousActions.failed, subject: accountId, shopId, after: { failures } },
    false,
  )
}

/** The number of remembered checks, and how long each counts. */
const recentChecksMax = 10_000
const recheckMs = 60_000

/**
 * Creates the recorder of refusals at the HTTP boundary. A repeated limit within an hour is one row, and each is looked
 * up once a minute.
 */
export function createAuditTrail(deps: RefusalDeps): RefusalAudit {
  /** Times of checks by actor and limit, oldest first. */
  const recentChecks = new Map<string, number>()

  function wasCheckedRecently(key: string): boolean {
    const at = recentChecks.get(key)
    const now = deps.clock.now()
    if (at !== undefined && at <= now && now - at < recheckMs) return true
    recentChecks.delete(key)
    recentChecks.set(key, now)
    const [oldest] = recentChecks.keys()
    if (recentChecks.size > recentChecksMax && oldest !== undefined) recentChecks.delete(oldest)
    return false
  }

  return {
    async limitHit({ actor, route, shopId }) {
      const action = route.endsWith('/login') ? anonymousActions.limited : anonymousActions.limit
      if (wasCheckedRecently(`${action} ${actor.id} ${route} ${limitKeyOf(actor.address)}`)) return
      await recordRefusal(deps, { actor, action, subject: route, shopId }, true)
    },
    async operatorRefused({ actor, route, reason }) {
      if (wasCheckedRecently(`${anonymousActions.refused} ${actor.id} ${reason} ${limitKeyOf(actor.address)}`)) return
      const isSuperAdmin = reason !== 'TOKEN' && reason !== 'ROLE'
      await recordRefusal(deps, { actor, action: anonymousActions.refused, subject: reason, after: { route } }, true, isSuperAdmin)
    },
  }
}

/** Returns the accounts of merchants, staff and operators by id. Other ids are left out. */
export const accountsOf = ({ db }: Pick<Deps, 'db'>, ids: readonly string[]) => store.accounts(db.read, ids)

/** The filters of a list. Days are inclusive, UTC; `q` is a search text. */
type AuditQuery = Pick<AuditFilter, 'actor' | 'action' | 'subject' | 'shopId'> & DateRange & { readonly q?: string | undefined }

/** @returns undefined if no account has the e-mail address that `q` contains */
async function filterOf({ db }: Pick<Deps, 'db'>, { from, to, q, ...named }: AuditQuery): Promise<AuditFilter | undefined> {
  const filter = { ...named, ...timeRangeOf({ from, to }) }
  const text = q?.trim() ?? ''
  if (text === '') return filter
  const term = text.includes('@') ? await store.accountOf(db.read, normalEmail(text)) : text
  return term === undefined ? undefined : { ...filter, searchTerm: searchTermOf(term) }
}

/**
 * Lists the trail, newest first. The cost does not grow with the trail: only the newest rows are counted and paged, and
 * only the newest matches of the narrowest filter are scanned.
 * @throws AppError INVALID for an invalid day, a reversed window, or one longer than a year
 */
export async function listAudit(
  deps: Pick<Deps, 'db'>,
  query: AuditQuery,
  slice: PageSlice,
): Promise<Page<AuditView> & { totalCapped?: true }> {
  const filter = await filterOf(deps, query)
  if (!filter) return pageOf([], 0, slice)
  const { rows, total, isCapped } = await listStore.list(deps.db.read, filter, slice)
  return { ...pageOf(rows.map(auditView), total, slice), ...(isCapped ? { totalCapped: true } : {}) }
}

const exportBatch = 500

/**
 * Yields the rows of a search, newest first, up to `listedMax`.
 * @throws AppError as `listAudit`, with the first batch
 */
export async function* searchAudit(deps: Pick<Deps, 'db'>, query: AuditQuery): AsyncGenerator<AuditView[], void> {
  const filter = await filterOf(deps, query)
  if (!filter) return
  for await (const rows of listStore.batches(deps.db.read, filter, exportBatch)) yield rows.map(auditView)
}

/** Exports the trail between two days (inclusive, UTC), oldest first. */
export async function* exportAudit({ db }: Pick<Deps, 'db'>, range: DateRange): AsyncGenerator<AuditView[]> {
  const days = timesOf(range)
  let last: AuditRow | undefined
  do {
    const rows = await listStore.next(db.read, days, last, exportBatch)
    yield rows.map(auditView)
    last = rows[exportBatch - 1]
  } while (last)
}

const removalBatch = 500

/**
 * Removes rows after AUDIT_RETENTION_DAYS, and session events of customers after `customerSessionDays`. Removes whole
 * days in small writes; each write adds a row that counts them.
 */
export async function removeOldAudit({
  config: { auditRetentionDays: days },
  ...deps
}: AuditDeps & Pick<Deps, 'db' | 'config'>): Promise<void> {
  await removeOldRows(deps, 'customersSessions', customerSessionDays)
  if (days !== undefined) await removeOldRows(deps, 'all', days)
}

async function removeOldRows(deps: AuditDeps & Pick<Deps, 'db'>, which: WhichRows, days: number): Promise<void> {
  const oldest = addDays(dayOf(deps.clock.now()), -days)
  const until = startOfDay(oldest)
  if (!(await store.anyBefore(deps.db.read, until, which))) return
  await inBatches(removalBatch, () =>
    deps.db.write(async (tx) => {
      const rows = await store.removeBefore(tx, { until, which, limit: removalBatch })
      const after = { rows, olderThan: oldest, ...(which === 'all' ? {} : { which }) }
      if (rows > 0) await audit(tx, deps, { actor: system, action: 'audit.removed', subject: 'audit', after })
      return rows
    }),
  )
}
