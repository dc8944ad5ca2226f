import { t } from 'elysia'
import { fieldsOf, Instant, oneOf, pageOf, pageQuery, publicName, text } from '../../../http/schema.ts'
import { WalletBodies, WalletRecord } from '../../trust/fabric/model.ts'
import { displayNameMax, lenderStatuses } from './domain.ts'

export const LenderRecord = t.Object(
  {
    ...fieldsOf(t.String(), 'id', 'displayName'),
    status: oneOf(lenderStatuses),
    wallets: t.Array(WalletRecord, { description: 'By address and time' }),
    statusHistory: t.Array(
      t.Object({ status: oneOf(lenderStatuses), at: Instant, actor: t.String({ description: 'Id of the person who did it' }) }),
      { description: 'History of the status, oldest first' },
    ),
    ...fieldsOf(Instant, 'createdAt', 'updatedAt'),
  },
  { title: 'AdminLender' },
)
export const Lenders = pageOf(LenderRecord)

const displayName = text(displayNameMax, { ...publicName, description: 'Public' })
const wallets = t.Optional(WalletBodies)
export const CreateLender = t.Object({ displayName, wallets })
export const ChangeLender = t.Object({ displayName: t.Optional(displayName), status: t.Optional(oneOf(lenderStatuses)), wallets })
export const ListLenders = t.Object({ ...pageQuery, status: t.Optional(oneOf(lenderStatuses)) })
