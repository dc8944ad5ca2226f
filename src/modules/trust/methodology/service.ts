import type { Writer } from '../../../../db/engine.ts'
import { type Change, withLocks } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError } from '../../../core/errors.ts'
import { assertExpected } from '../../../core/versions.ts'
import { pick } from '../../../lib/objects.ts'
import { type Page, pageOf, type Slice } from '../../../lib/page.ts'
import { findLender, lockLender } from '../../lending/lender/index.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { addCounts } from '../fabric/index.ts'
import {
  type Methodology,
  type MethodologyStatus,
  type MethodologyView,
  methodologyDifference,
  methodologyView,
  type PublicMethodologyView,
  publicMethodologyView,
  wrongInUrl,
} from './domain.ts'
import type { MethodologyDeps } from './providers.ts'
import type { MethodologyFilter } from './store.ts'

type By = Pick<Change, 'actor' | 'expected' | 'write'>
export type MethodologyDraft = { lenderId: string; version: string; contentHash: string; documentUrl: string }

const noSuchMethodology = () => new AppError('NOT_FOUND', 'No such methodology')
const taken = 'version, contentHash (body): the lender has a methodology of that version or that hash already'
const noHash = `0x${'0'.repeat(64)}`

/**
 * Registers a version of a lender's methodology, which takes the place of the active one.
 * @throws AppError INVALID for an address or a hash that is none, and for a lender that is not there, naming the field; CONFLICT where the
 *   lender has that version or that hash already, or is archived
 */
export function registerMethodology(deps: MethodologyDeps, by: By, draft: MethodologyDraft): Promise<MethodologyView> {
  const { methodologyStore: store, clock } = deps
  const { lenderId, version: methodologyVersion, documentUrl } = draft
  const wrong = wrongInUrl(documentUrl)
  if (wrong !== undefined) throw new AppError('INVALID', `documentUrl (body): must ${wrong}`)
  const id = deps.newId('methodology')
  const now = clock.now()
  const contentHash = draft.contentHash.toLowerCase()
  if (contentHash === noHash) throw new AppError('INVALID', 'contentHash (body): must be the hash of the document, which is not all zeros')
  const methodology: Methodology = {
    id,
    lenderId,
    methodologyVersion,
    contentHash,
    documentUrl,
    status: 'ACTIVE',
    registeredAt: now,
    updatedAt: now,
    version: 1,
  }
  return audited(deps, withLocks(deps, by), { action: 'methodology.registered', subject: id }, async (tx, tell) => {
    // Two at once of a lender come one after the other.
    const lender = await lockLender(tx, deps, lenderId)
    if (!lender) throw new AppError('INVALID', 'lenderId (body): no such lender')
    if (lender.status === 'ARCHIVED') throw new AppError('CONFLICT', 'lenderId (body): the lender is archived')
    const isFirst = !(await store.hasAny(tx, lenderId))
    const active = await store.active(lenderId, tx)
    const superseded = active && (await store.supersede(tx, active, now))
    if (active && superseded)
      await audit(tx, deps, {
        actor: by.actor,
        action: 'methodology.superseded',
        subject: active.id,
        ...methodologyDifference(active, superseded),
      })
    await store.insert(tx, methodology)
    await addCounts(tx, deps, 0, { 'methodologies.totalLenders': isFirst ? 1 : 0, 'methodologies.activeVersions': active ? 0 : 1 })
    tell(methodologyDifference(undefined, methodology))
    return methodologyView(methodology)
  }).catch(refuseTaken(taken))
}

/** Undefined where its table does not let it: nothing becomes active again. */
async function moved(
  { methodologyStore: store, clock }: MethodologyDeps,
  tx: Writer,
  before: Methodology,
  status: MethodologyStatus,
): Promise<Methodology | undefined> {
  if (status === 'REVOKED') return store.revoke(tx, before, clock.now())
  return status === 'SUPERSEDED' && before.status === 'ACTIVE' ? store.supersede(tx, before, clock.now()) : undefined
}

/**
 * Changes the status of a version of a methodology: one that is superseded by hand leaves its lender without an active one. Asked for the
 * status that it has, that stays.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for any other status
 */
export function changeMethodology(
  deps: MethodologyDeps,
  by: By,
  id: string,
  status: MethodologyStatus | undefined,
): Promise<MethodologyView> {
  const { methodologyStore: store } = deps
  return audited(deps, withLocks(deps, by), { action: 'methodology.changed', subject: id }, async (tx, tell) => {
    const found = await store.find(id, tx)
    if (!found) throw noSuchMethodology()
    // A registration locks the lender first, and then the active one.
    await lockLender(tx, deps, found.lenderId)
    const before = await store.locked(tx, id)
    if (!before) throw noSuchMethodology()
    assertExpected(by.expected, before.version)
    const isMoved = status !== undefined && status !== before.status
    const after = isMoved ? await moved(deps, tx, before, status) : before
    if (!after) throw new AppError('CONFLICT', `status (body): a methodology that is ${before.status} cannot become so`)
    await addCounts(tx, deps, 0, { 'methodologies.activeVersions': isMoved && before.status === 'ACTIVE' ? -1 : 0 })
    tell(methodologyDifference(before, after))
    return methodologyView(after)
  })
}

/** @throws AppError NOT_FOUND */
export async function readMethodology(
  { methodologyStore }: Pick<MethodologyDeps, 'methodologyStore'>,
  id: string,
): Promise<MethodologyView> {
  const methodology = await methodologyStore.find(id)
  if (!methodology) throw noSuchMethodology()
  return methodologyView(methodology)
}

/** A page of methodologies, newest first. */
export async function listMethodologies(
  { methodologyStore }: Pick<MethodologyDeps, 'methodologyStore'>,
  filter: MethodologyFilter,
  slice: Slice,
): Promise<Page<MethodologyView>> {
  const { rows, total } = await methodologyStore.list(filter, slice)
  return pageOf(rows.map(methodologyView), total, slice)
}

/**
 * A version of a methodology for the public.
 * @param hash of its content, in any case
 * @throws AppError NOT_FOUND
 */
export async function publicMethodology(
  { methodologyStore }: Pick<MethodologyDeps, 'methodologyStore'>,
  lenderId: string,
  hash: string,
): Promise<PublicMethodologyView> {
  const methodology = await methodologyStore.byHash(lenderId, hash.toLowerCase())
  if (!methodology) throw noSuchMethodology()
  return publicMethodologyView(methodology)
}

/** A lender for the public, with the version of its methodology that is active, if any. @throws AppError NOT_FOUND */
export async function publicLender(deps: MethodologyDeps, lenderId: string) {
  const lender = await findLender(deps, lenderId)
  if (!lender) throw new AppError('NOT_FOUND', 'No such lender')
  const active = await deps.methodologyStore.active(lenderId)
  return { ...pick(lender, 'id', 'displayName', 'status'), activeMethodologies: active ? [publicMethodologyView(active)] : [] }
}
