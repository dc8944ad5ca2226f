import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import { assertVersion } from '../../../core/versions.ts'
import { pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
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
  urlProblem,
} from './domain.ts'
import type { MethodologyDeps } from './providers.ts'
import type { MethodologyFilter } from './store.ts'

type WriteContext = Pick<CommandContext, 'actor' | 'expected' | 'write'>
type MethodologyDraft = { lenderId: string; version: string; contentHash: string; documentUrl: string }

const noSuchMethodology = () => new AppError('NOT_FOUND', 'No such methodology')
const duplicateMessage = 'the lender already has a methodology with this version or hash'
const zeroHash = `0x${'0'.repeat(64)}`

/**
 * Registers a version of a lender's methodology and supersedes the active one.
 * @throws AppError INVALID for an invalid address or hash and an unknown lender, with the field; CONFLICT if the lender
 * has that version or hash, or is archived
 */
export function registerMethodology(deps: MethodologyDeps, context: WriteContext, draft: MethodologyDraft): Promise<MethodologyView> {
  const { methodologyStore: store, clock } = deps
  const { lenderId, version: methodologyVersion, documentUrl } = draft
  const wrong = urlProblem(documentUrl)
  if (wrong !== undefined) throw invalidField('documentUrl', `must ${wrong}`)
  const id = deps.newId('methodology')
  const now = clock.now()
  const contentHash = draft.contentHash.toLowerCase()
  if (contentHash === zeroHash) throw invalidField('contentHash', 'must be the hash of the document, which is not all zeros')
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
  return audited(deps, withLocks(deps, context), { action: 'methodology.registered', subject: id }, async (tx, setDifference) => {
    // Serializes registrations of one lender.
    const lender = await lockLender(tx, deps, lenderId)
    if (!lender) throw invalidField('lenderId', 'must be a lender of this instance')
    if (lender.status === 'ARCHIVED') throw fieldError('CONFLICT', 'lenderId', 'the lender is archived')
    const isFirst = !(await store.hasAny(tx, lenderId))
    const active = await store.active(lenderId, tx)
    const superseded = active && (await store.supersede(tx, active, now))
    if (active && superseded)
      await audit(tx, deps, {
        actor: context.actor,
        action: 'methodology.superseded',
        subject: active.id,
        ...methodologyDifference(active, superseded),
      })
    await store.insert(tx, methodology)
    await addCounts(tx, deps, 0, { 'methodologies.totalLenders': isFirst ? 1 : 0, 'methodologies.activeVersions': active ? 0 : 1 })
    setDifference(methodologyDifference(undefined, methodology))
    return methodologyView(methodology)
  }).catch(refuseTaken(duplicateMessage, 'version, contentHash'))
}

/** Returns undefined if the transition is not allowed. No version becomes active again. */
async function transitionTo(
  { methodologyStore: store, clock }: MethodologyDeps,
  tx: Writer,
  before: Methodology,
  status: MethodologyStatus,
): Promise<Methodology | undefined> {
  if (status === 'REVOKED') return store.revoke(tx, before, clock.now())
  return status === 'SUPERSEDED' && before.status === 'ACTIVE' ? store.supersede(tx, before, clock.now()) : undefined
}

/**
 * Changes the status of a version. Superseding it by hand leaves the lender without an active one. Setting the current
 * status changes nothing.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for any other status
 */
export function changeMethodology(
  deps: MethodologyDeps,
  context: WriteContext,
  id: string,
  status: MethodologyStatus | undefined,
): Promise<MethodologyView> {
  const { methodologyStore: store } = deps
  return audited(deps, withLocks(deps, context), { action: 'methodology.changed', subject: id }, async (tx, setDifference) => {
    const methodology = await store.find(id, tx)
    if (!methodology) throw noSuchMethodology()
    // A registration locks in the same order: the lender, then the version.
    await lockLender(tx, deps, methodology.lenderId)
    const before = await store.locked(tx, id)
    if (!before) throw noSuchMethodology()
    assertVersion(context.expected, before.version)
    const isStatusChange = status !== undefined && status !== before.status
    const after = isStatusChange ? await transitionTo(deps, tx, before, status) : before
    if (!after)
      throw fieldError('CONFLICT', 'status', `a methodology that is ${before.status} cannot change to this status`, {
        code: 'invalid_transition',
      })
    await addCounts(tx, deps, 0, { 'methodologies.activeVersions': isStatusChange && before.status === 'ACTIVE' ? -1 : 0 })
    setDifference(methodologyDifference(before, after))
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

/** Lists methodologies, newest first. */
export async function listMethodologies(
  { methodologyStore }: Pick<MethodologyDeps, 'methodologyStore'>,
  filter: MethodologyFilter,
  slice: PageSlice,
): Promise<Page<MethodologyView>> {
  const { rows, total } = await methodologyStore.list(filter, slice)
  return pageOf(rows.map(methodologyView), total, slice)
}

/**
 * Reads a version for the public.
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

/**
 * Reads a lender for the public, with its active methodology.
 * @throws AppError NOT_FOUND
 */
export async function publicLender(deps: MethodologyDeps, lenderId: string) {
  const lender = await findLender(deps, lenderId)
  if (!lender) throw new AppError('NOT_FOUND', 'No such lender')
  const active = await deps.methodologyStore.active(lenderId)
  return { ...pick(lender, 'id', 'displayName', 'status'), activeMethodologies: active ? [publicMethodologyView(active)] : [] }
}
