import type { Reader, Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError, fieldError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { assertNotStale, assertVersion, type ExpectedVersion } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import type { PageSlice } from '../../../lib/page.ts'
import {
  isOwner,
  type Member,
  type MemberWithAddress,
  membersPerShopMax,
  noSuchMember,
  onlyOwnerError,
  shopsPerPersonMax,
} from './domain.ts'
import type { MemberDeps } from './providers.ts'

/** Returns a person's role in this shop, or in the first shop that they joined. `shop` is set if it was read along. */
export const membershipOf = (
  { memberStore }: Pick<MemberDeps, 'memberStore'>,
  { userId, shopId }: { userId: string; shopId: string | undefined },
): Promise<{ readonly shopId: string; readonly role: StaffRole; readonly shop?: ShopContext } | undefined> =>
  memberStore.membershipOf(userId, shopId)

/** Lists the shops where a person works, with their roles, in the order of joining. */
export const shopsOfMember = ({ memberStore }: MemberDeps, userId: string) => memberStore.shopsOf(userId)

/** Lists a shop's members and invitations, in the order of creation. */
export const listMembers = ({ memberStore }: MemberDeps, shopId: string, slice: PageSlice) => memberStore.list(shopId, slice)

/** @throws AppError NOT_FOUND, also for another shop's */
export async function readMember(
  { memberStore, db }: MemberDeps,
  shopId: string,
  id: string,
  from: Pick<Reader, 'select'> = db.read,
): Promise<MemberWithAddress> {
  const member = await memberStore.find(from, shopId, id)
  if (!member) throw noSuchMember()
  return member
}

const newMemberFields = { name: null, invitedAt: null, invitedByMail: false, acceptedBy: null, version: 1 } as const

/** Makes the person who opens a shop its first owner, inside the same write. */
export async function addFirstOwner(
  tx: Writer,
  { memberStore, newId, clock }: MemberDeps,
  { shopId, userId }: { shopId: string; userId: string },
): Promise<void> {
  const now = clock.now()
  const times = { joinedAt: now, createdAt: now, updatedAt: now }
  await memberStore.insert(tx, { ...newMemberFields, ...times, id: newId('staff'), shopId, userId, email: null, role: 'OWNER' })
}

const adoptionBatchSize = 500

/**
 * Makes the opener of a shop without staff its owner. A process of a version without staff may have opened one after
 * the migration, while several versions serve one database.
 * @returns the number of shops
 */
export async function assignMissingOwners({ memberStore, db, newId }: MemberDeps): Promise<number> {
  let count = 0
  if ((await memberStore.listWithoutStaff(db.read, 1)).length === 0) return count
  await inBatches(adoptionBatchSize, () =>
    db.write(async (tx) => {
      const shops = await memberStore.listWithoutStaff(tx, adoptionBatchSize)
      for (const { openedAt, ...ids } of shops) {
        const times = { joinedAt: openedAt, createdAt: openedAt, updatedAt: openedAt }
        await memberStore.insert(tx, { ...newMemberFields, ...times, ...ids, id: newId('staff'), email: null, role: 'OWNER' })
      }
      count += shops.length
      return shops.length
    }),
  )
  return count
}

/**
 * Checks inside the write that the actor is still an OWNER, because the role was read before.
 * @returns the member's name in the shop
 * @throws AppError FORBIDDEN; NOT_FOUND if the actor left
 */
export async function assertOwner(
  tx: Writer,
  { memberStore }: MemberDeps,
  { actor, shop }: Pick<CommandContext, 'actor' | 'shop'>,
): Promise<{ name: string | null }> {
  const { role, name = null } = (await memberStore.memberIn(tx, actor.id, shop.id)) ?? {}
  if (role === undefined) throw new AppError('NOT_FOUND', 'No such shop')
  if (role !== 'OWNER') throw new AppError('FORBIDDEN', 'This requires the OWNER role in the shop')
  return { name }
}

/**
 * Stores an invitation inside a write, as a new row or in that of an earlier invitation of the same address.
 * @param email normalised
 * @returns the previous row, if any, and the new one
 * @throws AppError CONFLICT for a person who has joined, and at the limit of staff
 */
export async function storeInvitation(
  tx: Writer,
  { memberStore, newId, clock }: MemberDeps,
  { shopId, email, role, byMail }: { shopId: string; email: string; role: StaffRole; byMail: boolean },
): Promise<{ before: Member | undefined; member: Member }> {
  const now = clock.now()
  const existing = await memberStore.withAddress(tx, shopId, email)
  if (existing?.userId) throw fieldError('CONFLICT', 'email', 'this person already works in the shop', { code: 'already_exists' })
  if (existing) {
    const { address: _, ...before } = existing
    const invitation = { role, invitedAt: now, invitedByMail: byMail, acceptedBy: null, updatedAt: now }
    return { before, member: assertNotStale(await memberStore.update(tx, existing, invitation)) }
  }
  if ((await memberStore.count(tx, shopId)) >= membersPerShopMax)
    throw new AppError('CONFLICT', `A shop has at most ${membersPerShopMax} people. Remove one first`, { code: 'limit_reached' })
  const times = { invitedAt: now, joinedAt: null, createdAt: now, updatedAt: now }
  const member: Member = { ...newMemberFields, ...times, id: newId('staff'), shopId, userId: null, email, role, invitedByMail: byMail }
  await memberStore.insert(tx, member)
  return { before: undefined, member }
}

/** Finds a pending invitation; undefined if it was accepted or withdrawn. */
export const findInvitation = ({ memberStore }: MemberDeps, from: Pick<Reader, 'first'>, id: string): Promise<Member | undefined> =>
  memberStore.findInvited(from, id)

/** Checks inside a write whether a person may join another shop. @throws AppError CONFLICT */
export async function assertBelowShopLimit(tx: Writer, { memberStore }: MemberDeps, userId: string): Promise<void> {
  if ((await memberStore.countShopsOf(tx, userId)) >= shopsPerPersonMax)
    throw new AppError('CONFLICT', `An account can work in at most ${shopsPerPersonMax} shops`, { code: 'limit_reached' })
}

/**
 * Makes an invited person a member, inside the write that uses up the token.
 * @throws AppError CONFLICT at the limit of shops per person
 */
export async function joinShop(
  tx: Writer,
  deps: MemberDeps,
  invited: Member,
  { userId, name }: { userId: string; name: string | null },
): Promise<Member> {
  await assertBelowShopLimit(tx, deps, userId)
  const { memberStore, clock } = deps
  const now = clock.now()
  return assertNotStale(
    await memberStore.update(tx, invited, { userId, name, acceptedBy: null, email: null, joinedAt: now, updatedAt: now }),
  )
}

/**
 * Records an accepted invitation, in the write that uses up its token. A new account joins at its first login.
 * @param acceptedBy the new account of the person; null if the address has one whose password they did not know
 */
export const storeAcceptance = async (
  tx: Writer,
  { memberStore, clock }: MemberDeps,
  invited: Member,
  { acceptedBy, name }: Pick<Member, 'acceptedBy' | 'name'>,
): Promise<Member> => assertNotStale(await memberStore.update(tx, invited, { acceptedBy, name, updatedAt: clock.now() }))

/** Makes an account a member of the shops whose invitations it accepted, inside the write of its login. */
export async function joinAcceptedShops(
  tx: Writer,
  { memberStore, clock }: MemberDeps,
  userId: string,
): Promise<{ readonly before: Member; readonly after: Member }[]> {
  const accepted = await memberStore.acceptedBy(tx, userId, shopsPerPersonMax)
  if (accepted.length === 0) return []
  const room = shopsPerPersonMax - (await memberStore.countShopsOf(tx, userId))
  const now = clock.now()
  const joined: { before: Member; after: Member }[] = []
  for (const before of accepted.slice(0, Math.max(0, room))) {
    // A second login at the same time may have done it.
    const after = await memberStore.update(tx, before, { userId, acceptedBy: null, email: null, joinedAt: now, updatedAt: now })
    if (after) joined.push({ before, after })
  }
  return joined
}

/** @throws AppError CONFLICT for the only OWNER of a shop */
async function assertOtherOwner(tx: Writer, { memberStore }: MemberDeps, member: Member): Promise<void> {
  if (isOwner(member) && (await memberStore.countOwners(tx, member.shopId)) <= 1) throw onlyOwnerError()
}

/**
 * Sets a member's role inside a write. Takes effect in every process after the commit.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export async function setRole(
  tx: Writer,
  deps: MemberDeps,
  { shop, expected }: Pick<CommandContext, 'shop'> & { expected?: ExpectedVersion | undefined },
  id: string,
  role: StaffRole,
): Promise<{ before: MemberWithAddress; after: MemberWithAddress }> {
  const before = await readMember(deps, shop.id, id, tx)
  assertVersion(expected, before.version)
  if (role !== 'OWNER') await assertOtherOwner(tx, deps, before)
  const after = assertNotStale(await deps.memberStore.update(tx, before, { role, updatedAt: deps.clock.now() }))
  return { before, after: { ...after, address: before.address } }
}

/**
 * Removes a member or withdraws an invitation, inside a write.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export async function removeMember(
  tx: Writer,
  deps: MemberDeps,
  { shop, expected }: Pick<CommandContext, 'shop'> & { expected?: ExpectedVersion | undefined },
  id: string,
): Promise<MemberWithAddress> {
  const member = await readMember(deps, shop.id, id, tx)
  assertVersion(expected, member.version)
  await assertOtherOwner(tx, deps, member)
  if (!(await deps.memberStore.remove(tx, member))) assertNotStale(undefined)
  return member
}
