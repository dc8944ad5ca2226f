import type { Caller } from '../../core/caller.ts'
import type { Actor, Change } from '../../core/change.ts'
import { refuseTaken } from '../../core/conflict.ts'
import { AppError } from '../../core/errors.ts'
import type { ShopContext } from '../../core/principal.ts'
import type { StaffRole } from '../../core/roles.ts'
import { limitKeyOf } from '../../lib/networks.ts'
import { type Page, pageOf, type Slice } from '../../lib/page.ts'
import type { PageAction } from '../account-page/index.ts'
import { audit, audited } from '../audit/index.ts'
import { byAddress, normalEmail, passwordLength, tokenByAddress } from '../auth/domain.ts'
import { assertUncommon, countAttempt, countFailure } from '../auth/index.ts'
import { pageOf as mailPageOf, queueMail, sendsMail } from '../mail/index.ts'
import { type MemberView, memberDifference, memberView } from '../member/domain.ts'
import { assertOwner, invitedMember, joinShop, keepInvitation, listMembers, readMember, removeMember, setRole } from '../member/index.ts'
import type { User } from '../merchant/domain.ts'
import { checkUserPassword, insertMerchant, newMerchant, userWithEmail } from '../merchant/index.ts'
import { type OneTimeToken, tokenLifeMs } from '../one-time-token/domain.ts'
import { endTokens, issueToken, lookAtToken, spendToken, wasSentTo } from '../one-time-token/index.ts'
import { readShop } from '../shop/index.ts'
import type { StaffDeps } from './base.ts'
import { invitationsByShop } from './domain.ts'

type ByOwner = Change<ShopContext>
const linkOver = () => new AppError('UNAUTHENTICATED', 'The link is not good (any more): ask for a new one')
const view = (member: Parameters<typeof memberView>[0]): MemberView => memberView(member, tokenLifeMs.INVITATION)

/** A shop's staff, and who was invited, in the order in which they came. */
export async function listStaff(deps: StaffDeps, shop: Pick<ShopContext, 'id'>, slice: Slice): Promise<Page<MemberView>> {
  const { rows, total } = await listMembers(deps, shop.id, slice)
  return pageOf(rows.map(view), total, slice)
}

/** @throws AppError NOT_FOUND, also for another shop's */
export const readStaff = async (deps: StaffDeps, shop: Pick<ShopContext, 'id'>, id: string): Promise<MemberView> =>
  view(await readMember(deps, shop.id, id))

/**
 * Invites somebody to work in a shop: by a mail, or, where no mails are sent, by a link that is told to who invites. Of an address that was
 * invited before, with the role that is named now; links of before are good no more.
 * @throws AppError FORBIDDEN, RATE_LIMITED after 50 within an hour; CONFLICT for somebody who
 *   works there already, and when the shop has as many people as it may
 */
export async function inviteStaff(
  deps: StaffDeps,
  by: ByOwner,
  { email: given, role }: { email: string; role: StaffRole },
): Promise<MemberView & { inviteUrl?: string }> {
  const email = normalEmail(given)
  const byLink = !sendsMail(deps)
  const shopId = by.shop.id
  await countAttempt(deps, [[invitationsByShop, shopId]])
  const shop = await readShop(deps, shopId)
  const write = by.write ?? deps.db.write
  return write(async (tx) => {
    const inviter = await assertOwner(tx, deps, by)
    const { before, member } = await keepInvitation(tx, deps, { shopId, email, role })
    await endTokens(tx, deps, 'INVITATION', member.id)
    const token = await issueToken(tx, deps, { purpose: 'INVITATION', subjectId: member.id, shopId, email })
    const key = `invitation:${member.id}:${member.version}`
    const data = { token, role, invitedBy: inviter.name ?? undefined }
    if (!byLink) await queueMail(tx, deps, { key, shopId, to: email, template: 'invitation', data, cause: limitKeyOf(by.actor.address) })
    const entry = { actor: by.actor, action: 'staff.invited', subject: member.id, shopId }
    await audit(tx, deps, { ...entry, ...memberDifference(before, member) })
    return { ...view({ ...member, address: email }), ...(byLink ? { inviteUrl: mailPageOf(deps, shop, 'invitation', token) } : {}) }
  }).catch(refuseTaken('Somebody with this address was invited at the same time'))
}

/**
 * Gives somebody another role, or has an invitation give it. It counts from the commit on.
 * @throws AppError FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export const changeStaff = (deps: StaffDeps, by: ByOwner, id: string, { role }: { role: StaffRole }): Promise<MemberView> =>
  audited(deps, by, { action: 'staff.changed', subject: id }, async (tx, tell) => {
    await assertOwner(tx, deps, by)
    const { before, after } = await setRole(tx, deps, by, id, role)
    tell(memberDifference(before, after))
    return view(after)
  })

/**
 * Takes somebody out of a shop, or an invitation back. From the commit on they may do nothing there any more.
 * @throws AppError FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export const removeStaff = (deps: StaffDeps, by: ByOwner, id: string): Promise<void> =>
  audited(deps, by, { action: 'staff.removed', subject: id }, async (tx, tell) => {
    await assertOwner(tx, deps, by)
    const { address: _, ...before } = await removeMember(tx, deps, by, id)
    await endTokens(tx, deps, 'INVITATION', id)
    tell(memberDifference(before, undefined))
  })

/** What a token of an invitation is about, while it is good; a look does not use it up. */
export const invitationOf = (deps: StaffDeps, token: string): Promise<OneTimeToken | undefined> =>
  lookAtToken(deps.db.read, deps, 'INVITATION', token)

export type Acceptance = { token: string; password?: string | undefined; name?: string | undefined }
export type Joined = { shop: { id: string; name: string; title: string }; email: string; role: StaffRole }

/**
 * Has whoever holds the token of an invitation join the shop. Somebody without an account gets one, with the password that they choose. Who
 * has one says its password, which is not changed: addresses of merchants are proven by nobody, so that who reads the mail and whose account the
 * address has may be two.
 * @throws AppError UNAUTHENTICATED for a token that is not good and for a wrong password; INVALID where a password is needed or is a common one,
 *   and then the token stays good; CONFLICT for the address of an operator, and for an account with as many shops as one may have;
 *   RATE_LIMITED, UNAVAILABLE
 */
export async function acceptInvitation(deps: StaffDeps, { token, password, name }: Acceptance, caller: Caller): Promise<Joined> {
  const { limitKey: address, agent: _, ...from } = caller
  const found = await countFailure(deps, byAddress(tokenByAddress, address), () => invitationOf(deps, token))
  const invited = found && (await invitedMember(deps, deps.db.read, found.subjectId))
  if (!found || !invited?.email || !wasSentTo(found, invited.email)) throw linkOver()
  const known = await userWithEmail(deps, invited.email)
  const user = known
    ? await provenAccount(deps, known, { password, address, actor: { ...from, id: known.id } })
    : await newAccount(deps, { email: invited.email, password, address })
  const actor = { ...from, id: user.id }
  const shop = await readShop(deps, invited.shopId)
  const joined = await deps.db
    .write(async (tx) => {
      // Of two who have it one goes on; and the invitation may have been taken back, or its role changed.
      if (!(await spendToken(tx, deps, 'INVITATION', token))) throw linkOver()
      const waiting = await invitedMember(deps, tx, invited.id)
      if (!waiting) throw linkOver()
      if (!known) await insertMerchant(tx, deps, user, actor)
      const member = await joinShop(tx, deps, waiting, { userId: user.id, name: name ?? null })
      const entry = { actor, action: 'staff.joined', subject: member.id, shopId: shop.id }
      await audit(tx, deps, { ...entry, ...memberDifference(waiting, member) })
      return member
    })
    .catch(refuseTaken('The address got an account meanwhile: send the invitation again'))
  return { shop: { id: shop.id, name: shop.name, title: shop.title }, email: user.email, role: joined.role }
}

type Proof = { password: string | undefined; address: string; actor: Actor }

/** @throws AppError CONFLICT, INVALID, UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE */
async function provenAccount(deps: StaffDeps, user: User, { password, address, actor }: Proof): Promise<User> {
  if (user.role !== 'MERCHANT')
    throw new AppError('CONFLICT', 'The address is that of an operator of this instance, who cannot work in a shop: use another one')
  if (password === undefined) throw new AppError('INVALID', 'password (body): the address has an account here: say the password of it')
  return checkUserPassword(deps, { id: user.id, actor }, password, address)
}

/** @throws AppError INVALID, UNAVAILABLE */
async function newAccount(
  deps: StaffDeps,
  { email, password, address }: { email: string; password: string | undefined; address: string },
): Promise<User> {
  if (password === undefined) throw new AppError('INVALID', 'password (body): the address has no account yet: choose one')
  if (password.length < passwordLength.minLength)
    throw new AppError('INVALID', `password (body): at least ${passwordLength.minLength} characters`)
  await assertUncommon(password)
  return newMerchant(deps, { email, password }, { kind: 'merchant', address })
}

/** The page for it, of a shop that has none of its own. */
export const invitationAction = (deps: StaffDeps): PageAction => ({
  isGood: (token) => invitationOf(deps, token),
  async act({ token, password, name }, caller) {
    if (password.length > passwordLength.maxLength || name.length > 200) return 'refused'
    const given = { token, ...(password === '' ? {} : { password }), ...(name.trim() === '' ? {} : { name: name.trim() }) }
    try {
      await acceptInvitation(deps, given, caller)
      return 'done'
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code === 'INVALID') return 'refused'
      if (error.code === 'CONFLICT') return 'over'
      if (error.code !== 'UNAUTHENTICATED') throw error
      // A wrong password leaves the link good.
      return (await invitationOf(deps, token)) ? 'refused' : 'over'
    }
  },
})
