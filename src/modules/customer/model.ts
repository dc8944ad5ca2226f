import { t } from 'elysia'
import { Email, Instant, text } from '../../http/schema.ts'
import { passwordLength } from '../auth/domain.ts'
import type { Customer } from './store.ts'

const shopName = text(63, { minLength: 1 })
export const CustomerSignup = t.Object({ shopName, email: Email, password: t.String({ ...passwordLength }), name: t.Optional(text(200)) })
export const CustomerLogin = t.Object({
  shopName,
  email: text(254, { minLength: 1 }),
  password: text(passwordLength.maxLength, { minLength: 1 }),
})
export const CustomerRecord = t.Object(
  { id: t.String(), shopId: t.String(), email: t.String(), name: t.String(), createdAt: Instant, updatedAt: Instant },
  { title: 'Customer' },
)

export const customerView = ({ id, shopId, email, name, createdAt, updatedAt }: Customer) => ({
  id,
  shopId,
  email,
  name,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
})
