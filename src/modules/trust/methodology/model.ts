import { t } from 'elysia'
import { fieldsOf, Instant, oneOf, pageOf, pageQuery, publicName, text } from '../../../http/schema.ts'
import { hashForm } from '../../../lib/evm.ts'
import { lenderStatuses } from '../../lending/lender/domain.ts'
import { methodologyStatuses, methodologyVersionMax } from './domain.ts'

const publicFields = {
  lenderId: t.String(),
  version: t.String({ description: "The lender's own name of it" }),
  contentHash: t.String({ description: 'In small letters' }),
  status: oneOf(methodologyStatuses),
  documentUrl: t.String(),
  registeredAt: Instant,
}
export const PublicMethodology = t.Object(publicFields, { title: 'Methodology' })
export const MethodologyRecord = t.Object({ id: t.String(), ...publicFields, updatedAt: Instant }, { title: 'AdminMethodology' })
export const Methodologies = pageOf(MethodologyRecord)
export const PublicLender = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'displayName'),
    status: oneOf(lenderStatuses),
    activeMethodologies: t.Array(PublicMethodology, {
      description: 'One at most: a version that is registered takes the place of the one before it',
    }),
  },
  { title: 'Lender' },
)

export const RegisterMethodology = t.Object({
  lenderId: text(64),
  version: text(methodologyVersionMax, { ...publicName, description: "The lender's own name of it, unique among theirs" }),
  contentHash: text(66, { ...hashForm, description: 'Of the document, unique among the lender’s' }),
  // Further rules are checked by `urlProblem`.
  documentUrl: text(2048, {
    pattern: '^[hH][tT][tT][pP][sS]://',
    rule: 'an address that begins with https://',
    description: 'In ASCII, without a user name or password',
  }),
})
export const ChangeMethodology = t.Object({ status: t.Optional(oneOf(methodologyStatuses, { description: 'SUPERSEDED or REVOKED' })) })
export const ListMethodologies = t.Object({
  ...pageQuery,
  lenderId: t.Optional(text(64)),
  status: t.Optional(oneOf(methodologyStatuses)),
})
export const LenderParam = t.Object({ lenderId: text(64) })
export const MethodologyParams = t.Object({ lenderId: text(64), hash: text(66) })
