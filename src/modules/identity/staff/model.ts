import { t } from 'elysia'
import { staffRoles } from '../../../core/roles.ts'
import { Email, fieldsOf, Instant, nullable, oneOf, pageOf, publicName, text } from '../../../http/schema.ts'
import { passwordLength } from '../auth/domain.ts'
import { memberStatuses } from '../member/domain.ts'
import { staffNameMax } from './domain.ts'

const role = oneOf(staffRoles, {
  description:
    'READ_ONLY reads the catalog, orders and customers. FULFILMENT reads and fulfils orders. MANAGER does everything except what is reserved for OWNER: keys, processor accounts, staff, KYB, lending, going live, wallet and webhook endpoints. READ_ONLY and FULFILMENT cannot export lists',
})

const fields = {
  ...fieldsOf(t.String(), 'id', 'shopId'),
  userId: nullable(t.String({ description: 'Account of the person. Null until the invitation is accepted' })),
  email: t.String(),
  name: nullable(t.String({ description: 'Entered by the person when accepting the invitation' })),
  role,
  status: oneOf(memberStatuses),
  invitationExpiresAt: nullable(t.String({ ...Instant, description: 'For invitations: when the link expires' })),
  joinedAt: nullable(Instant),
  ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
}
export const StaffRecord = t.Object(fields, { title: 'Staff' })
export const InvitedStaff = t.Object(
  {
    ...fields,
    inviteUrl: t.Optional(t.String({ description: 'The invitation link, if there is no mail server. Returned only once' })),
  },
  { title: 'InvitedStaff' },
)
export const StaffList = pageOf(StaffRecord)

export const InviteStaff = t.Object({ email: Email, role })
export const ChangeStaff = t.Object({ role })

export const AcceptInvitation = t.Object({
  token: text(200, { minLength: 1, description: 'From the link in the invitation' }),
  password: t.Optional(
    text(passwordLength.maxLength, {
      minLength: 1,
      description:
        'Required. The password of the existing account or, for a new account, 10 to 200 characters. The most common passwords are rejected',
    }),
  ),
  name: t.Optional(text(staffNameMax, { ...publicName, description: "The person's name, shown to the shop" })),
})
export const JoinedShop = t.Object(
  { shop: t.Object(fieldsOf(t.String(), 'id', 'name', 'title')), email: t.String({ description: 'E-mail address for the login' }), role },
  { title: 'JoinedShop' },
)
