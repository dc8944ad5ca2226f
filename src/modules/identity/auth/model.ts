import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { passwordLength } from './domain.ts'

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

/** A new password. */
export const NewPassword = t.String({ ...passwordLength, description: '10 to 200 characters, none of the most common passwords' })

export const ListSessions = t.Object(pageQuery)
export const Sessions = pageOf(
  t.Object(
    {
      id: t.String(),
      ...fieldsOf(Instant, 'createdAt', 'lastUsedAt', 'expiresAt'),
      address: nullable(t.String({ description: 'Where it was begun or last renewed from' })),
      agent: nullable(t.String({ description: 'What the caller said it is (`user-agent`), at most 200 characters' })),
      current: t.Boolean({ description: 'Whether it is the one that asks' }),
    },
    { title: 'Session' },
  ),
)
