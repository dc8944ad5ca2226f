import type { Writer } from '../../../../db/engine.ts'
import type { Caller } from '../../../core/caller.ts'
import type { Actor, CommandContext, Origin } from '../../../core/command-context.ts'
import { refuseTaken } from '../../../core/conflict.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { anonymous, type ShopContext } from '../../../core/principal.ts'
import type { StaffRole } from '../../../core/roles.ts'
import { limitKeyOf } from '../../../lib/networks.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import type { PageAction } from '../../customers/account-page/index.ts'
import { mailPageUrl as mailPageOf, queueMail, sendsMail } from '../../messaging/mail/index.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { readShop } from '../../shop/shop/index.ts'
import { limitsByAddress, normalEmail, passwordLength, tokenByAddress, userAccount } from '../auth/domain.ts'
import { assertUncommonPassword, checkPassword, countAttempt, countFailure } from '../auth/index.ts'
import { type Member, type MemberView, memberDifference, memberView } from '../member/domain.ts'
import {
  assertOwner,
  findInvitation,
  joinShop,
  listMembers,
  readMember,
  removeMember,
  setRole,
  storeAcceptance,
  storeInvitation,
} from '../member/index.ts'
import type { User } from '../merchant/domain.ts'
import { buildMerchant, checkUserPassword, findUserByEmail, insertMerchant } from '../merchant/index.ts'
import { type OneTimeToken, tokenLifeMs } from '../one-time-token/domain.ts'
import { findToken, invalidateTokens, isSentTo, issueToken, spendToken } from '../one-time-token/index.ts'
import type { StaffDeps } from './deps.ts'
import { invitationsByShop } from './domain.ts'

type OwnerChange = CommandContext<ShopContext>
const invalidLink = () => new AppError('UNAUTHENTICATED', 'The link is invalid or has expired. Request a new one', { code: 'invalid_link' })
const viewOf = (member: Parameters<typeof memberView>[0]): MemberView => memberView(member, tokenLifeMs.INVITATION)

/** Lists a shop's staff and invitations, in the order of creation. */
export async function listStaff(deps: StaffDeps, shop: Pick<ShopContext, 'id'>, slice: PageSlice): Promise<Page<MemberView>> {
  const { rows, total } = await listMembers(deps, shop.id, slice)
  return pageOf(rows.map(viewOf), total, slice)
}

/** @throws AppError NOT_FOUND, also for another shop's */
export const readStaff = async (deps: StaffDeps, shop: Pick<ShopContext, 'id'>, id: string): Promise<MemberView> =>
  viewOf(await readMember(deps, shop.id, id))

/**
 * Invites a person to a shop by mail, or without a mail server by a link in the response. The response does not depend
 * on whether the address has an account. Earlier invitations of the address are replaced.
 * @throws AppError FORBIDDEN; RATE_LIMITED after 50 within an hour; CONFLICT if the person is already on the staff or
 * the shop's staff limit is reached
 */
export async function inviteStaff(
  deps: StaffDeps,
  by: OwnerChange,
  { email: invitedEmail, role }: { email: string; role: StaffRole },
): Promise<MemberView & { inviteUrl?: string }> {
  const email = normalEmail(invitedEmail)
  const byLink = !sendsMail(deps)
  const shopId = by.shop.id
  await countAttempt(deps, [[invitationsByShop, shopId]])
  const shop = await readShop(deps, shopId)
  const write = by.write ?? deps.db.write
  return write(async (tx) => {
    const inviter = await assertOwner(tx, deps, by)
    const { before, member } = await storeInvitation(tx, deps, { shopId, email, role, byMail: !byLink })
    await invalidateTokens(tx, deps, 'INVITATION', member.id)
    const token = await issueToken(tx, deps, { purpose: 'INVITATION', subjectId: member.id, shopId, email })
    const key = `invitation:${member.id}:${member.version}`
    const data = { token, role, invitedBy: inviter.name ?? undefined }
    if (!byLink) await queueMail(tx, deps, { key, shopId, to: email, template: 'invitation', data, cause: limitKeyOf(by.actor.address) })
    const entry = { actor: by.actor, action: 'staff.invited', subject: member.id, shopId }
    await audit(tx, deps, { ...entry, ...memberDifference(before, member) })
    return { ...viewOf({ ...member, address: email }), ...(byLink ? { inviteUrl: mailPageOf(deps, shop, 'invitation', token) } : {}) }
  }).catch(refuseTaken('this address was invited by another request', 'email'))
}

/**
 * Sets the role of a member or an invitation. Takes effect after the commit.
 * @throws AppError FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export const changeStaff = (deps: StaffDeps, by: OwnerChange, id: string, { role }: { role: StaffRole }): Promise<MemberView> =>
  audited(deps, by, { action: 'staff.changed', subject: id }, async (tx, setDifference) => {
    await assertOwner(tx, deps, by)
    const { before, after } = await setRole(tx, deps, by, id, role)
    setDifference(memberDifference(before, after))
    return viewOf(after)
  })

/**
 * Removes a member or withdraws an invitation. Takes effect after the commit.
 * @throws AppError FORBIDDEN, NOT_FOUND, PRECONDITION_FAILED; CONFLICT for the only OWNER
 */
export const removeStaff = (deps: StaffDeps, by: OwnerChange, id: string): Promise<void> =>
  audited(deps, by, { action: 'staff.removed', subject: id }, async (tx, setDifference) => {
    await assertOwner(tx, deps, by)
    const { address: _, ...before } = await removeMember(tx, deps, by, id)
    await invalidateTokens(tx, deps, 'INVITATION', id)
    setDifference(memberDifference(before, undefined))
  })

/** Returns the record of an invitation token while it is valid. Does not use it up. */
export const findInvitationToken = (deps: StaffDeps, token: string): Promise<OneTimeToken | undefined> =>
  findToken(deps.db.read, deps, 'INVITATION', token)

type Acceptance = { token: string; password?: string | undefined; name?: string | undefined }
type JoinedShop = { shop: { id: string; name: string; title: string }; email: string; role: StaffRole }

/**
 * Accepts an invitation. An address without an account gets one with the chosen password. An existing account joins
 * only with its own password: merchants' addresses are unproven, so the reader of the mail may be another person.
 * @throws AppError UNAUTHENTICATED for an invalid token; INVALID for a missing or unfit password, after which the token
 * stays valid; RATE_LIMITED, UNAVAILABLE; by mail also as `proveAccount`, and CONFLICT at the limit of shops
 */
export async function acceptInvitation(deps: StaffDeps, acceptance: Acceptance, caller: Caller): Promise<JoinedShop> {
  const { limitKey: address, agent: _, ...from } = caller
  const found = await countFailure(deps, limitsByAddress(tokenByAddress, address), () => findInvitationToken(deps, acceptance.token))
  const invited = found && (await findInvitation(deps, deps.db.read, found.subjectId))
  if (!found || !invited?.email || !isSentTo(found, invited.email)) throw invalidLink()
  const { id, email, shopId, invitedByMail } = invited
  const shop = await readShop(deps, shopId)
  const accept = invitedByMail ? acceptByMail : acceptByLink
  const { role } = await accept(deps, { id, email }, acceptance, { address, from })
  return { shop: { id: shop.id, name: shop.name, title: shop.title }, email, role }
}

type InvitedPerson = { readonly id: string; readonly email: string }
type InvitationCaller = { readonly address: string; readonly from: Origin }

/**
 * Uses up the token. Of two requests with one token, one succeeds; the invitation may have been withdrawn, or its role
 * changed.
 */
async function useInvitation(tx: Writer, deps: StaffDeps, { id }: InvitedPerson, token: string): Promise<Member> {
  const spent = await spendToken(tx, deps, 'INVITATION', token)
  const pendingInvitation = spent && (await findInvitation(deps, tx, id))
  if (!pendingInvitation) throw invalidLink()
  return pendingInvitation
}

/**
 * Handles a token that came by mail and so proves the address. The person joins at once, and sees problems with the
 * account.
 */
async function acceptByMail(
  deps: StaffDeps,
  invited: InvitedPerson,
  { token, password, name }: Acceptance,
  { address, from }: InvitationCaller,
): Promise<Member> {
  const existingUser = await findUserByEmail(deps, invited.email)
  const user = existingUser
    ? await proveAccount(deps, existingUser, { password, address, actor: { ...from, id: existingUser.id } })
    : await buildAccount(deps, { email: invited.email, password, address })
  const actor = { ...from, id: user.id }
  return deps.db
    .write(async (tx) => {
      const pendingInvitation = await useInvitation(tx, deps, invited, token)
      if (!existingUser) await insertMerchant(tx, deps, user, actor)
      const member = await joinShop(tx, deps, pendingInvitation, { userId: user.id, name: name ?? null })
      const entry = { actor, action: 'staff.joined', subject: member.id, shopId: member.shopId }
      await audit(tx, deps, { ...entry, ...memberDifference(pendingInvitation, member) })
      return member
    })
    .catch(refuseTaken('An account with this email address was just created. Send the request again, with the password of that account'))
}

/**
 * Handles a link that the shop has seen, and which must not reveal whether the address has an account. Every address
 * gets the same response after the same work. An account joins if the password is right; a new account joins at its
 * first login. Until then the shop sees an invitation, as after a wrong password.
 */
async function acceptByLink(
  deps: StaffDeps,
  invited: InvitedPerson,
  { token, password, name: acceptedName }: Acceptance,
  { address, from }: InvitationCaller,
): Promise<Member> {
  const newUser = await buildAccount(deps, { email: invited.email, password, address })
  const existingUser = await findUserByEmail(deps, invited.email)
  const isProven = await matchesPassword(deps, existingUser ?? newUser, { password: password ?? '', address, from })
  const user = existingUser ?? newUser
  const joins = existingUser !== undefined && isProven
  const name = acceptedName ?? null
  const actor = { ...from, id: existingUser && !joins ? anonymous.id : user.id }
  return deps.db
    .write(async (tx) => {
      const pendingInvitation = await useInvitation(tx, deps, invited, token)
      if (!existingUser) await insertMerchant(tx, deps, newUser, actor)
      const member = joins
        ? await joinShop(tx, deps, pendingInvitation, { userId: user.id, name })
        : await storeAcceptance(tx, deps, pendingInvitation, { acceptedBy: existingUser ? null : newUser.id, name })
      const entry = { actor, action: joins ? 'staff.joined' : 'staff.accepted', subject: member.id, shopId: member.shopId }
      await audit(tx, deps, { ...entry, ...memberDifference(pendingInvitation, member) })
      return member
    })
    .catch(refuseTaken('The invitation was changed by another request. Try again'))
}

/**
 * Checks a password without revealing whether the account exists. A rate limit counts as a wrong password.
 * @throws AppError UNAVAILABLE
 */
async function matchesPassword(
  deps: StaffDeps,
  { id, email, passwordHash }: User,
  { password, address, from }: InvitationCaller & { readonly password: string },
): Promise<boolean> {
  const account = { kind: 'merchant', name: userAccount(email), hash: passwordHash } as const
  try {
    await checkPassword(deps, account, { address, password }, { accountId: id, from })
    return true
  } catch (error) {
    if (error instanceof AppError && (error.kind === 'UNAUTHENTICATED' || error.kind === 'RATE_LIMITED')) return false
    throw error
  }
}

type PasswordProof = { password: string | undefined; address: string; actor: Actor }

/** @throws AppError INVALID, UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE */
async function proveAccount(deps: StaffDeps, user: User, { password, address, actor }: PasswordProof): Promise<User> {
  if (password === undefined) throw invalidField('password', 'required: the password of this account')
  return checkUserPassword(deps, { id: user.id, actor }, password, address)
}

/** @throws AppError INVALID, UNAVAILABLE */
async function buildAccount(
  deps: StaffDeps,
  { email, password, address }: { email: string; password: string | undefined; address: string },
): Promise<User> {
  if (password === undefined) throw invalidField('password', 'required: the password of this account, or one for a new account')
  if (password.length < passwordLength.minLength)
    throw invalidField('password', `must have at least ${passwordLength.minLength} characters`)
  await assertUncommonPassword(password)
  return buildMerchant(deps, { email, password }, { kind: 'merchant', address })
}

/** Returns souk's invitation page, for shops that have none of their own. */
export const createInvitationAction = (deps: StaffDeps): PageAction => ({
  findLink: (token) => findInvitationToken(deps, token),
  async act({ token, password, name }, caller) {
    if (password.length > passwordLength.maxLength || name.length > 200) return 'refused'
    const acceptance = { token, ...(password === '' ? {} : { password }), ...(name.trim() === '' ? {} : { name: name.trim() }) }
    try {
      await acceptInvitation(deps, acceptance, caller)
      return 'done'
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.kind === 'INVALID') return 'refused'
      if (error.kind === 'CONFLICT') return 'over'
      if (error.kind !== 'UNAUTHENTICATED') throw error
      // After a wrong password the link stays valid.
      return (await findInvitationToken(deps, token)) ? 'refused' : 'over'
    }
  },
})
