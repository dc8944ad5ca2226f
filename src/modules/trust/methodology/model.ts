import { t } from 'elysia'
import { fieldsOf, Instant, oneOf, pageOf, pageQuery, publicName, text } from '../../../http/schema.ts'
import { hashForm } from '../../../lib/evm.ts'
import { lenderStatuses } from '../../lending/lender/domain.ts'
import { methodologyStatuses, methodologyVersionMax } from './domain.ts'

const publicFields = {
  lenderId: t.String(),
  version: t.String({ description: "The lender's name for the version" }),
  contentHash: t.String({ description: 'In lower case' }),
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
      description: 'At most one. A new version replaces the previous one',
    }),
  },
  { title: 'Lender' },
)

export const RegisterMethodology = t.Object({
  lenderId: text(64),
  version: text(methodologyVersionMax, { ...publicName, description: "The lender's name for the version, unique for the lender" }),
  contentHash: text(66, { ...hashForm, description: 'Hash of the document, unique for the lender' }),
  // Further rules are checked by `urlProblem`.
  documentUrl: text(2048, {
    pattern: '^[hH][tT][tT][pP][sS]://',
    rule: 'a URL that begins with https://',
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
