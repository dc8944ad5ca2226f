import { t } from 'elysia'
import { fieldsOf, Instant, integer, nullable, pageOf, pageQuery, text } from '../../../http/schema.ts'
import { passwordLength } from './domain.ts'

export const RefreshBody = t.Object({ refreshToken: text(200, { minLength: 1 }) })
export const LoginAnswer = t.Object(
  {
    data: t.Object({
      accessToken: t.String(),
      tokenType: t.Literal('Bearer'),
      expiresIn: integer({ description: 'In seconds' }),
      refreshToken: t.String(),
    }),
  },
  { title: 'Login' },
)

/** A new password. */
export const NewPassword = t.String({ ...passwordLength, description: '10 to 200 characters. The most common passwords are rejected' })

export const ListSessions = t.Object(pageQuery)
export const Sessions = pageOf(
  t.Object(
    {
      id: t.String(),
      ...fieldsOf(Instant, 'createdAt', 'lastUsedAt', 'expiresAt'),
      address: nullable(t.String({ description: 'Client address of the login or the last refresh' })),
      agent: nullable(t.String({ description: "The client's `user-agent`, at most 200 characters" })),
      current: t.Boolean({ description: 'Whether this is the calling session' }),
    },
    { title: 'Session' },
  ),
)
