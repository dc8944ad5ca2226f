import { t } from 'elysia'
import { staffRoles } from '../../../core/roles.ts'
import { Email, fieldsOf, Instant, nullable, oneOf, pageOf, publicName, text } from '../../../http/schema.ts'
import { passwordLength } from '../auth/domain.ts'
import { memberStatuses } from '../member/domain.ts'
import { staffNameMax } from './domain.ts'

const role = oneOf(staffRoles, {
  description:
    "READ_ONLY reads catalog, orders and customers; FULFILMENT reads orders and fulfils; MANAGER does all but what is the OWNER's: keys, processor accounts, staff, KYB, lending, going live, wallet and webhook endpoints. READ_ONLY and FULFILMENT export nothing",
})

const fields = {
  ...fieldsOf(t.String(), 'id', 'shopId'),
  userId: nullable(t.String({ description: 'Their account; null before they have joined' })),
  email: t.String(),
  name: nullable(t.String({ description: 'As they said when they accepted' })),
  role,
  status: oneOf(memberStatuses),
  invitationExpiresAt: nullable(t.String({ ...Instant, description: 'Of an invitation: until when its link is good' })),
  joinedAt: nullable(Instant),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
export const StaffRecord = t.Object(fields, { title: 'Staff' })
export const InvitedStaff = t.Object(
  {
    ...fields,
    inviteUrl: t.Optional(t.String({ description: 'Without a mail server: the link, shown this once, to pass on by hand' })),
  },
  { title: 'InvitedStaff' },
)
export const StaffList = pageOf(StaffRecord)

export const InviteStaff = t.Object({ email: Email, role })
export const ChangeStaff = t.Object({ role })

export const AcceptInvitation = t.Object({
  token: text(200, { minLength: 1, description: 'From the link of the invitation' }),
  password: t.Optional(
    text(passwordLength.maxLength, {
      minLength: 1,
      description:
        'The password of the account of the address, or one for a new account: 10 to 200 characters, none of the most common ones. Required',
    }),
  ),
  name: t.Optional(text(staffNameMax, { ...publicName, description: 'How the shop calls them' })),
})
export const JoinedShop = t.Object(
  { shop: t.Object(fieldsOf(t.String(), 'id', 'name', 'title')), email: t.String({ description: 'What they log in with' }), role },
  { title: 'JoinedShop' },
)
