import type { staff } from '../../../../db/schema/staff.ts'
import { AppError } from '../../../core/errors.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Member = typeof staff.$inferSelect
/** Somebody who works in a shop, or was invited to, with the address by which they are known there. */
export type KnownMember = Member & { readonly address: string }

export const memberStatuses = ['INVITED', 'ACTIVE'] as const
export const statusOfMember = ({ userId }: Pick<Member, 'userId'>): (typeof memberStatuses)[number] =>
  userId === null ? 'INVITED' : 'ACTIVE'

/** Of a shop, invitations included. */
export const membersPerShopMax = 100
/** Of a person. */
export const shopsPerPersonMax = 100

export const noSuchMember = () => new AppError('NOT_FOUND', 'No such member of staff')
export const lastOwner = () => new AppError('CONFLICT', 'The only OWNER of the shop: make somebody else one first')

/** Whether it is an OWNER who is there, and not one who was only invited. */
export const isOwner = ({ role, userId }: Pick<Member, 'role' | 'userId'>): boolean => role === 'OWNER' && userId !== null

/** What of staff is on record: who they are by their account alone. */
export const memberDifference = (before: Member | undefined, after: Member | undefined): Difference => {
  const told = (member: Member | undefined) =>
    member && { ...pick(member, 'role', 'userId', 'email', 'name'), status: statusOfMember(member) as string }
  return differenceOf(told(before), told(after), ['role', 'userId', 'status'])
}

/** @param linkLifeMs how long the link of an invitation is good */
export const memberView = (member: KnownMember, linkLifeMs: number) => {
  const { invitedAt, joinedAt, createdAt, updatedAt, userId } = member
  return {
    ...pick(member, 'id', 'shopId', 'userId', 'name', 'role', 'version'),
    email: member.address,
    status: statusOfMember(member),
    invitationExpiresAt: userId === null && invitedAt !== null ? new Date(invitedAt + linkLifeMs).toISOString() : null,
    joinedAt: joinedAt === null ? null : new Date(joinedAt).toISOString(),
    ...isoTimes({ createdAt, updatedAt }),
  }
}
export type MemberView = ReturnType<typeof memberView>
