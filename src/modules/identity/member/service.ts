import type { Reader, Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { assertExpected, type Expected, unlessStale } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import type { Slice } from '../../../lib/page.ts'
import { isOwner, type KnownMember, lastOwner, type Member, membersPerShopMax, noSuchMember, shopsPerPersonMax } from './domain.ts'
import type { MemberDeps } from './providers.ts'

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

const blank = { name: null, invitedAt: null, invitedByMail: false, acceptedBy: null, version: 1 } as const

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
  { shopId, email, role, byMail }: { shopId: string; email: string; role: StaffRole; byMail: boolean },
): Promise<{ before: Member | undefined; member: Member }> {
  const now = clock.now()
  const known = await memberStore.withAddress(tx, shopId, email)
  if (known?.userId) throw new AppError('CONFLICT', 'email (body): somebody with this address works in the shop already')
  if (known) {
    const { address: _, ...before } = known
    const invitation = { role, invitedAt: now, invitedByMail: byMail, acceptedBy: null, updatedAt: now }
    return { before, member: unlessStale(await memberStore.update(tx, known, invitation)) }
  }
  if ((await memberStore.count(tx, shopId)) >= membersPerShopMax)
    throw new AppError('CONFLICT', `A shop has at most ${membersPerShopMax} people: remove somebody first`)
  const times = { invitedAt: now, joinedAt: null, createdAt: now, updatedAt: now }
  const member: Member = { ...blank, ...times, id: newId('staff'), shopId, userId: null, email, role, invitedByMail: byMail }
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
  return unlessStale(await memberStore.update(tx, invited, { userId, name, acceptedBy: null, email: null, joinedAt: now, updatedAt: now }))
}

/**
 * Records an accepted invitation, in the write that uses up its token. A new account joins at its first login.
 * @param acceptedBy the new account of the person; null if the address has one whose password they did not know
 */
export const keepAcceptance = async (
  tx: Writer,
  { memberStore, clock }: MemberDeps,
  invited: Member,
  { acceptedBy, name }: Pick<Member, 'acceptedBy' | 'name'>,
): Promise<Member> => unlessStale(await memberStore.update(tx, invited, { acceptedBy, name, updatedAt: clock.now() }))

/** Makes an account a member of the shops whose invitations it accepted, inside the write of its login. */
export async function joinAccepted(
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
