import type { staff } from '../../../../db/schema/staff.ts'
import { AppError } from '../../../core/errors.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'

export type Member = typeof staff.$inferSelect
/** A member or an invitation, with the e-mail address shown in the shop. */
export type MemberWithAddress = Member & { readonly address: string }

export const memberStatuses = ['INVITED', 'ACTIVE'] as const
const statusOfMember = ({ userId }: Pick<Member, 'userId'>): (typeof memberStatuses)[number] => (userId === null ? 'INVITED' : 'ACTIVE')

/** Per shop, including invitations. */
export const membersPerShopMax = 100
/** Per person. */
export const shopsPerPersonMax = 100

/** Creates the error for a missing member. It is the same for another shop's, so that it reveals nothing. */
export const noSuchMember = () => new AppError('NOT_FOUND', 'No such member of staff')
/** Creates the error for a change that would leave the shop without an OWNER who has joined. */
export const onlyOwnerError = () =>
  new AppError('CONFLICT', 'This is the only OWNER of the shop. Give another person the OWNER role first', { code: 'last_owner' })

/** Returns whether the member is an OWNER who has joined. */
export const isOwner = ({ role, userId }: Pick<Member, 'role' | 'userId'>): boolean => role === 'OWNER' && userId !== null

/** Returns the audited difference. Persons are named by their account only. */
export const memberDifference = (before: Member | undefined, after: Member | undefined): Difference => {
  const auditedFieldsOf = (member: Member | undefined) =>
    member && { ...pick(member, 'role', 'userId', 'email', 'name'), status: statusOfMember(member) as string }
  return differenceOf(auditedFieldsOf(before), auditedFieldsOf(after), ['role', 'userId', 'status'])
}

/** @param linkLifeMs lifetime of an invitation link */
export const memberView = (member: MemberWithAddress, linkLifeMs: number) => {
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
