import type { Writer } from '../../../../db/engine.ts'
import type { Trail } from '../../../core/audit-fields.ts'
import { type Actor, type Change, type Origin, system } from '../../../core/command-context.ts'
import { type Days, windowOf } from '../../../core/date-range.ts'
import type { Deps } from '../../../core/deps.ts'
import { aside } from '../../../core/request-context.ts'
import { inBatches } from '../../../lib/batches.ts'
import { addDays, dayOf, startOf } from '../../../lib/day.ts'
import { limitKeyOf } from '../../../lib/networks.ts'
import { pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import {
  type AuditEntry,
  type AuditRow,
  type AuditView,
  auditView,
  bounded,
  customersSessionsDays,
  type Difference,
  hourMs,
  isTold,
  outsideRowsOf,
  outsideRowsPerHour,
  outsiders,
  soughtOf,
} from './domain.ts'
import { type AuditFilter, auditStore as store, type WhichRows } from './store.ts'

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
  before: bounded(before),
  after: bounded(after),
})

/** Writes a row of the audit trail, inside the write that it tells of. `before` and `after` hold nothing of a person and no secret: see `differenceOf`. */
export const audit = (tx: Writer, deps: AuditDeps, entry: Entry): Promise<void> => store.insert(tx, rowOf(deps, entry))

/** By which the work of `audited` says what of its subject changed. */
export type Tell = (difference: Partial<Difference>) => void

/**
 * The write of whatever somebody asked to be changed: the work and the row of the audit trail that tells of it, in one commit.
 * @param work tells by its second argument what of the subject changed
 * @returns what the work returns, which an idempotent request stores as its answer
 */
export function audited<T>(
  deps: Pick<Deps, 'db' | 'clock' | 'newId'>,
  { actor, shop, write = deps.db.write }: Pick<Change, 'actor' | 'write'> & Partial<Pick<Change, 'shop'>>,
  entry: AuditEntry,
  work: (tx: Writer, tell: Tell) => Promise<T>,
): Promise<T> {
  return write(async (tx) => {
    let told: Partial<Difference> = {}
    const done = await work(tx, (difference) => {
      told = difference
    })
    const isNoChange = told.before === null && told.after === null
    if (!isNoChange) await audit(tx, deps, { ...entry, ...told, actor, shopId: shop?.id })
    return done
  })
}

/** How often an action was done to a subject since `since` (milliseconds). */
export const timesDone = (from: Pick<Writer, 'select'>, entry: AuditEntry & { since: number }): Promise<number> => store.count(from, entry)

/** When an action was done to a subject for the nth last time (milliseconds); undefined when it was not done so often since `since`. */
export const nthLastTime = (
  from: Pick<Writer, 'select'>,
  entry: AuditEntry & { since: number; nth: number },
): Promise<number | undefined> => store.nthLast(from, entry)

type NotingDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'log'>

/**
 * Puts on record what somebody was refused. They need no account for it, so it is bounded; and a refusal stands also where it cannot be
 * noted.
 * @param onceAnHour a row like it of the last hour is enough
 * @param isKnown it is somebody who has an account that not anybody gets: their rows are bounded by themselves, so that nobody keeps them
 * off the record by being refused often enough before
 */
async function noteOutside(deps: NotingDeps, entry: Entry, onceAnHour: boolean, isKnown = false): Promise<void> {
  const row = rowOf(deps, entry)
  const since = row.at - hourMs
  const rowToInsert = async (from: Pick<Writer, 'select'>): Promise<AuditRow | 'too many' | undefined> => {
    const rows = outsideRowsOf(await store.countOutside(from, since, isKnown ? row.actor : undefined), row.address)
    const bounds = Object.entries(outsideRowsPerHour) as [keyof typeof rows, number][]
    if (bounds.some(([name, most]) => rows[name] > most)) return 'too many'
    const full = bounds.find(([name, most]) => rows[name] === most)
    if (full) {
      const [subject, rowsPerHour] = full
      return {
        ...row,
        actor: isKnown ? row.actor : 'anonymous',
        action: outsiders.suppressed,
        subject,
        shopId: null,
        after: { rowsPerHour },
      }
    }
    return onceAnHour && (await store.isKnown(from, row, since)) ? undefined : row
  }
  try {
    // A flood of refusals writes nothing: most are known from the last commit.
    let wanted = await rowToInsert(deps.db.read)
    if (typeof wanted === 'object')
      await aside(() =>
        deps.db.write(async (tx) => {
          wanted = await rowToInsert(tx)
          if (typeof wanted === 'object') await store.insert(tx, wanted)
        }),
      )
    // What the trail has no more room for is in the log alone.
    if (wanted === 'too many' || wanted?.action === outsiders.suppressed)
      deps.log.warn('audit.suppressed', pick({ ...row, address: row.address ?? undefined }, 'actor', 'action', 'subject', 'address'))
  } catch (error) {
    deps.log.warn('audit.refusal_not_noted', { action: entry.action, error })
  }
}

/** A login that failed. */
export type FailedLogin = {
  /** Whose account it is; undefined when nobody has it. */
  accountId: string | undefined
  shopId?: string | undefined
  from: Origin
  /** Of this account from this address within the window, this one included. */
  failures: number
}

/** Puts a failed login on record. What it costs is the same whether there is such an account. */
export async function noteFailedLogin(deps: NotingDeps, { accountId = 'anonymous', shopId, from, failures }: FailedLogin): Promise<void> {
  if (!isTold(failures)) return
  await noteOutside(
    deps,
    { actor: { ...from, id: accountId }, action: outsiders.failed, subject: accountId, shopId, after: { failures } },
    false,
  )
}

/** Limits that were looked at lately, and how long that counts. */
const lookedAtMax = 10_000
const lookAgainMs = 60_000

/**
 * What the boundary puts on record: a limit that somebody meets again within the hour is one row. Whether it is one already is looked up
 * once a minute, so that a flood of refusals costs the database nothing.
 */
export function createTrail(deps: NotingDeps): Trail {
  /** When, by who met which limit; the oldest first. */
  const lookedAt = new Map<string, number>()

  function isLookedAt(key: string): boolean {
    const at = lookedAt.get(key)
    const now = deps.clock.now()
    if (at !== undefined && at <= now && now - at < lookAgainMs) return true
    lookedAt.delete(key)
    lookedAt.set(key, now)
    const [oldest] = lookedAt.keys()
    if (lookedAt.size > lookedAtMax && oldest !== undefined) lookedAt.delete(oldest)
    return false
  }

  return {
    async limitHit({ actor, route, shopId }) {
      const action = route.endsWith('/login') ? outsiders.limited : outsiders.limit
      if (isLookedAt(`${action} ${actor.id} ${route} ${limitKeyOf(actor.address)}`)) return
      await noteOutside(deps, { actor, action, subject: route, shopId }, true)
    },
    async operatorRefused({ actor, route, reason }) {
      if (isLookedAt(`${outsiders.refused} ${actor.id} ${reason} ${limitKeyOf(actor.address)}`)) return
      const isSuperAdmin = reason !== 'TOKEN' && reason !== 'ROLE'
      await noteOutside(deps, { actor, action: outsiders.refused, subject: reason, after: { route } }, true, isSuperAdmin)
    },
  }
}

/** Whose accounts some ids are: of merchants, of their staff and of operators; an id that is none of these is left out. */
export const accountsOf = ({ db }: Pick<Deps, 'db'>, ids: readonly string[]) => store.accounts(db.read, ids)

/** What a list of the trail is narrowed by; days are inclusive, UTC. `q` is what somebody typed. */
export type AuditQuery = Pick<AuditFilter, 'actor' | 'action' | 'subject' | 'shopId'> & Days & { readonly q?: string | undefined }

/** @returns undefined where nothing can be found: no account has the e-mail address that was typed */
async function filterOf({ db }: Pick<Deps, 'db'>, { from, to, q, ...named }: AuditQuery): Promise<AuditFilter | undefined> {
  const filter = { ...named, ...windowOf({ from, to }) }
  const text = q?.trim() ?? ''
  if (text === '') return filter
  const whole = text.includes('@') ? await store.accountOf(db.read, normalEmail(text)) : text
  return whole === undefined ? undefined : { ...filter, sought: soughtOf(whole) }
}

/**
 * The audit trail, newest first. The newest rows are counted and reached by page, and of several conditions that each hold for very many
 * rows the newest are looked at, so that one costs the same of a thousand rows and of a million.
 * @throws AppError INVALID for what is no day, and for a window that ends before it begins or is longer than a year
 */
export async function listAudit(
  deps: Pick<Deps, 'db'>,
  query: AuditQuery,
  slice: Slice,
): Promise<Page<AuditView> & { totalCapped?: true }> {
  const filter = await filterOf(deps, query)
  if (!filter) return pageOf([], 0, slice)
  const { rows, total, isCapped } = await store.list(deps.db.read, filter, slice)
  return { ...pageOf(rows.map(auditView), total, slice), ...(isCapped ? { totalCapped: true } : {}) }
}

const exportedAtOnce = 500

/**
 * The same rows as a list, newest first, in pieces, up to as many as are counted.
 * @throws AppError as `listAudit`, with the first piece
 */
export async function* foundAudit(deps: Pick<Deps, 'db'>, query: AuditQuery): AsyncGenerator<AuditView[], void> {
  const filter = await filterOf(deps, query)
  if (!filter) return
  for await (const rows of store.pieces(deps.db.read, filter, exportedAtOnce)) yield rows.map(auditView)
}

/** The whole trail between two days (inclusive, UTC), oldest first, in pieces. */
export async function* exportAudit({ db }: Pick<Deps, 'db'>, { from, to }: Days): AsyncGenerator<AuditView[]> {
  const days = {
    since: from === undefined ? undefined : startOf(from),
    until: to === undefined ? undefined : startOf(addDays(to, 1)),
  }
  let last: AuditRow | undefined
  do {
    const rows = await store.next(db.read, days, last, exportedAtOnce)
    yield rows.map(auditView)
    last = rows[exportedAtOnce - 1]
  } while (last)
}

const removedAtOnce = 500

/**
 * Removes what is older than the retention that is set, if one is, and what customers' sessions have left after `customersSessionsDays`:
 * whole days, in small writes, each of which says on record how many rows went.
 */
export async function forgetOldAudit({
  config: { auditRetentionDays: days },
  ...deps
}: AuditDeps & Pick<Deps, 'db' | 'config'>): Promise<void> {
  await forgetRows(deps, 'customersSessions', customersSessionsDays)
  if (days !== undefined) await forgetRows(deps, 'all', days)
}

async function forgetRows(deps: AuditDeps & Pick<Deps, 'db'>, which: WhichRows, days: number): Promise<void> {
  const oldest = addDays(dayOf(deps.clock.now()), -days)
  const until = startOf(oldest)
  if (!(await store.anyBefore(deps.db.read, until, which))) return
  await inBatches(removedAtOnce, () =>
    deps.db.write(async (tx) => {
      const rows = await store.removeBefore(tx, { until, which, limit: removedAtOnce })
      const after = { rows, olderThan: oldest, ...(which === 'all' ? {} : { which }) }
      if (rows > 0) await audit(tx, deps, { actor: system, action: 'audit.removed', subject: 'audit', after })
      return rows
    }),
  )
}
