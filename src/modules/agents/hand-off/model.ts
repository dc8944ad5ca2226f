import { t } from 'elysia'
import { text } from '../../../http/schema.ts'

export const TakeHandOff = t.Object({ token: text(200, { minLength: 1, description: 'The `token` in the link of the agent' }) })
