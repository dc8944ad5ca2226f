import type { Reader, Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertVersion } from '../../../core/versions.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { audited } from '../../operations/audit/index.ts'
import { assertCountry } from '../countries/domain.ts'
import { verifyShops } from '../shop/index.ts'
import {
  type AdminKybView,
  adminKybView,
  type Business,
  type KybCohort,
  type KybDecision,
  type KybEvent,
  type KybInput,
  type KybOrder,
  type KybStatus,
  type KybView,
  kybDifference,
  kybView,
  parseOwners,
} from './domain.ts'
import type { KybDeps } from './providers.ts'

const noSuchRecord = () => new AppError('NOT_FOUND', 'No such KYB record')

/**
 * Files a KYB record for an operator's decision.
 * @param input shares in percent
 * @throws AppError INVALID for an unknown country or wrong shares; CONFLICT while another record of the merchant is
 * pending or approved
 */
export async function fileKyb(deps: KybDeps, by: CommandContext<ShopContext>, input: KybInput): Promise<KybView> {
  assertCountry(input.country, 'country')
  const now = deps.clock.now()
  const id = deps.newId('kyb')
  const record = {
    id,
    merchantId: by.shop.merchantId,
    status: 'PENDING',
    ...input,
    owners: parseOwners(input.owners),
    reason: null,
    decidedAt: null,
    createdAt: now,
    updatedAt: now,
    version: 1,
  } as const
  return audited(deps, by, { action: 'kyb.filed', subject: id }, async (tx, setDifference) => {
    await deps.kybStore.insert(tx, record)
    await appendEvent(tx, deps, { recordId: id, position: 1, type: 'FILED', actor: by.actor.id, reason: null })
    setDifference(kybDifference(undefined, record))
    return kybView(record)
  }).catch(refuseTaken('The merchant already has a pending or approved KYB record'))
}

function appendEvent(tx: Writer, { kybStore, newId, clock }: KybDeps, event: Omit<KybEvent, 'id' | 'at'>): Promise<void> {
  return kybStore.insertEvent(tx, { id: newId('event'), at: clock.now(), ...event })
}

/** Returns the merchant's pending or approved record, else the last rejected one; undefined if there is none. */
export async function findKybOf({ kybStore }: Pick<KybDeps, 'kybStore'>, merchantId: string): Promise<KybView | undefined> {
  const record = await kybStore.findOf(merchantId)
  return record && kybView(record)
}

/**
 * Returns the cohort of a merchant's approved business; undefined if not approved.
 * @param from the transaction of a write that depends on it
 */
export const approvedCohortOf = (
  { kybStore }: Pick<KybDeps, 'kybStore'>,
  merchantId: string,
  from?: Pick<Reader, 'first'>,
): Promise<KybCohort | undefined> => kybStore.approvedCohort(merchantId, from)

/** Returns the businesses of merchants with a pending or approved record. @param from the transaction of a write */
export const listBusinesses = (
  { kybStore }: Pick<KybDeps, 'kybStore'>,
  merchantIds: readonly string[],
  from?: Pick<Reader, 'select'>,
): Promise<Map<string, Business>> => kybStore.liveOf(merchantIds, from)

/** Lists the records of all merchants, newest first by default. */
export async function listKyb(
  { kybStore }: KybDeps,
  { status, sort = 'newest' }: { status?: KybStatus | undefined; sort?: KybOrder | undefined },
  slice: PageSlice,
): Promise<Page<AdminKybView>> {
  const { rows, total } = await kybStore.list(status, sort, slice)
  const events = await kybStore.eventsOf(rows.map(({ id }) => id))
  return pageOf(
    rows.map((record) => adminKybView(record, events.get(record.id) ?? [])),
    total,
    slice,
  )
}

/** @throws AppError NOT_FOUND */
export async function readKyb({ kybStore }: KybDeps, id: string): Promise<AdminKybView> {
  const record = await kybStore.find(id)
  if (!record) throw noSuchRecord()
  return adminKybView(record, (await kybStore.eventsOf([id])).get(id) ?? [])
}

/**
 * Stores an operator's final decision. Approval makes the merchant's shops KYB_VERIFIED in the same write.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT if it is decided already
 */
export function decideKyb(
  deps: KybDeps,
  { actor, expected }: Pick<CommandContext, 'actor' | 'expected'>,
  id: string,
  { decision, reason }: { decision: KybDecision; reason: string | null },
): Promise<AdminKybView> {
  const action = { APPROVED: 'kyb.approved', REJECTED: 'kyb.rejected' }[decision]
  return audited(deps, { actor }, { action, subject: id }, async (tx, setDifference) => {
    const before = await deps.kybStore.find(id, tx)
    if (!before) throw noSuchRecord()
    assertVersion(expected, before.version)
    const now = deps.clock.now()
    const after = await deps.kybStore.decide(tx, id, decision, { reason, decidedAt: now, updatedAt: now, version: before.version + 1 })
    if (!after) throw new AppError('CONFLICT', 'The KYB record was already decided', { code: 'invalid_transition' })
    await appendEvent(tx, deps, { recordId: id, position: after.version, type: decision, actor: actor.id, reason })
    if (decision === 'APPROVED') await verifyShops(tx, deps, { merchantId: after.merchantId, actor })
    setDifference(kybDifference(before, after))
    return adminKybView(after, (await deps.kybStore.eventsOf([id], tx)).get(id) ?? [])
  })
}
