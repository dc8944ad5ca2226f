import { t } from 'elysia'
import { Instant } from '../../../http/schema.ts'

export const ErasedCustomer = t.Object({ customerId: t.String(), erasedAt: Instant }, { title: 'ErasedCustomer' })
