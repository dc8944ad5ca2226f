import { t } from 'elysia'
import { integer, text } from '../../http/schema.ts'

export const RefreshBody = t.Object({ refreshToken: text(200, { minLength: 1 }) })
export const LoginAnswer = t.Object(
  {
    data: t.Object({
      accessToken: t.String(),
      tokenType: t.Literal('Bearer'),
      expiresIn: integer({ description: 'Seconds' }),
      refreshToken: t.String(),
    }),
  },
  { title: 'Login' },
)
