import type { Reader, Writer } from '../../../db/engine.ts'
import type { Change } from '../../core/change.ts'
import { AppError } from '../../core/errors.ts'
import type { ShopContext } from '../../core/principal.ts'
import type { StaffRole } from '../../core/roles.ts'
import { assertExpected, type Expected, unlessStale } from '../../core/versions.ts'
import { inBatches } from '../../lib/batches.ts'
import type { Slice } from '../../lib/page.ts'
import { isOwner, type KnownMember, lastOwner, type Member, membersPerShopMax, noSuchMember, shopsPerPersonMax } from './domain.ts'
import type { MemberDeps } from './parts.ts'

/** Where somebody works, and as what: in this shop, or in the one that they came to first. `shop`: where it was read with it. */
export const placeOfMember = (
  { memberStore }: Pick<MemberDeps, 'memberStore'>,
  { userId, shopId }: { userId: string; shopId: string | undefined },
): Promise<{ readonly shopId: string; readonly role: StaffRole; readonly shop?: ShopContext } | undefined> =>
  memberStore.placeOf(userId, shopId)

/** All shops that somebody works in, with their role in each, the one that they came to first before the others. */
export const shopsOfMember = ({ memberStore }: MemberDeps, userId: string) => memberStore.shopsOf(userId)

/** A page of a shop's staff and of those who were invited, in the order in which they came. */
export const listMembers = ({ memberStore }: MemberDeps, shopId: string, slice: Slice) => memberStore.list(shopId, slice)

/** @throws AppError NOT_FOUND, also for another shop's */
export async function readMember(
  { memberStore, db }: MemberDeps,
  shopId: string,
  id: string,
  from: Pick<Reader, 'select'> = db.read,
): Promise<KnownMember> {
  const member = await memberStore.find(from, shopId, id)
  if (!member) throw noSuchMember()
  return member
}

const blank = { name: null, invitedAt: null, version: 1 } as const

/** Makes who opens a shop its first owner, inside the write that opens it. */
export async function addFirstOwner(
  tx: Writer,
  { memberStore, newId, clock }: MemberDeps,
  { shopId, userId }: { shopId: string; userId: string },
): Promise<void> {
  const now = clock.now()
  const times = { joinedAt: now, createdAt: now, updatedAt: now }
  await memberStore.insert(tx, { ...blank, ...times, id: newId('staff'), shopId, userId, email: null, role: 'OWNER' })
}

const adoptedAtOnce = 500

/**
 * Makes who opened a shop its owner where nobody works in it: a process of a version from before there was staff may have opened it after the
 * migration, while several serve one database.
 * @returns how many shops it were
 */
export async function adoptShops({ memberStore, db, newId }: MemberDeps): Promise<number> {
  let count = 0
  if ((await memberStore.deserted(db.read, 1)).length === 0) return count
  await inBatches(adoptedAtOnce, () =>
    db.write(async (tx) => {
      const shops = await memberStore.deserted(tx, adoptedAtOnce)
      for (const { openedAt, ...ids } of shops) {
        const times = { joinedAt: openedAt, createdAt: openedAt, updatedAt: openedAt }
        await memberStore.insert(tx, { ...blank, ...times, ...ids, id: newId('staff'), email: null, role: 'OWNER' })
      }
      count += shops.length
      return shops.length
    }),
  )
  return count
}

/**
 * Asks inside the write whether who changes the staff of a shop is its OWNER still: their role was read before the write began.
 * @returns how the shop calls them
 * @throws AppError FORBIDDEN, NOT_FOUND when they are gone
 */
export async function assertOwner(
  tx: Writer,
  { memberStore }: MemberDeps,
  { actor, shop }: Pick<Change, 'actor' | 'shop'>,
): Promise<{ name: string | null }> {
  const { role, name = null } = (await memberStore.memberIn(tx, actor.id, shop.id)) ?? {}
  if (role === undefined) throw new AppError('NOT_FOUND', 'No such shop')
  if (role !== 'OWNER') throw new AppError('FORBIDDEN', 'This needs the OWNER role in the shop')
  return { name }
}

/**
 * Keeps that somebody is invited, inside a write: a new row, or the one of an earlier invitation of the same address.
 * @param email in its one spelling
 * @returns the row before, if there was one, and as it is
 * @throws AppError CONFLICT for somebody who has joined, and when the shop has as many people as it may
 */
export async function keepInvitation(
  tx: Writer,
  { memberStore, newId, clock }: MemberDeps,
  { shopId, email, role }: { shopId: string; email: string; role: StaffRole },
): Promise<{ before: Member | undefined; member: Member }> {
  const now = clock.now()
  const known = await memberStore.withAddress(tx, shopId, email)
  if (known?.userId) throw new AppError('CONFLICT', 'email (body): somebody with this address works in the shop already')
  if (known) {
    const { address: _, ...before } = known
    return { before, member: unlessStale(await memberStore.update(tx, known, { role, invitedAt: now, updatedAt: now })) }
  }
  if ((await memberStore.count(tx, shopId)) >= membersPerShopMax)
    throw new AppError('CONFLICT', `A shop has at most ${membersPerShopMax} people: remove somebody first`)
  const times = { invitedAt: now, joinedAt: null, createdAt: now, updatedAt: now }
  const member: Member = { ...blank, ...times, id: newId('staff'), shopId, userId: null, email, role }
  await memberStore.insert(tx, member)
  return { before: undefined, member }
}

/** An invitation that waits to be taken; undefined for one that was, or was taken back. */
export const invitedMember = ({ memberStore }: MemberDeps, from: Pick<Reader, 'first'>, id: string): Promise<Member | undefined> =>
  memberStore.findInvited(from, id)

/**
 * Has somebody join who was invited, inside the write that uses their token up.
 * @throws AppError CONFLICT for somebody who works in as many shops as one may
 */
export async function joinShop(
  tx: Writer,
  { memberStore, clock }: MemberDeps,
  invited: Member,
  { userId, name }: { userId: string; name: string | null },
): Promise<Member> {
  if ((await memberStore.countShopsOf(tx, userId)) >= shopsPerPersonMax)
    throw new AppError('CONFLICT', `One account works in at most ${shopsPerPersonMax} shops`)
  const now = clock.now()
  return unlessStale(await memberStore.update(tx, invited, { userId, name, email: null, joinedAt: now, updatedAt: now }))
}

/** @throws AppError CONFLICT for the only OWNER of a shop */
async function assertOtherOwner(tx: Writer, { memberStore }: MemberDeps, member: Member): Promise<void> {
  if (isOwner(member) && (await memberStore.countOwners(tx, member.shopId)) <= 1) throw lastOwner()
}

/**
 * Gives somebody another role, inside a write. It counts from the commit on, in every process.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export async function setRole(
  tx: Writer,
  deps: MemberDeps,
  { shop, expected }: Pick<Change, 'shop'> & { expected?: Expected | undefined },
  id: string,
  role: StaffRole,
): Promise<{ before: KnownMember; after: KnownMember }> {
  const before = await readMember(deps, shop.id, id, tx)
  assertExpected(expected, before.version)
  if (role !== 'OWNER') await assertOtherOwner(tx, deps, before)
  const after = unlessStale(await deps.memberStore.update(tx, before, { role, updatedAt: deps.clock.now() }))
  return { before, after: { ...after, address: before.address } }
}

/**
 * Takes somebody out of a shop, inside a write, or an invitation back.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export async function removeMember(
  tx: Writer,
  deps: MemberDeps,
  { shop, expected }: Pick<Change, 'shop'> & { expected?: Expected | undefined },
  id: string,
): Promise<KnownMember> {
  const member = await readMember(deps, shop.id, id, tx)
  assertExpected(expected, member.version)
  await assertOtherOwner(tx, deps, member)
  if (!(await deps.memberStore.remove(tx, member))) unlessStale(undefined)
  return member
}
