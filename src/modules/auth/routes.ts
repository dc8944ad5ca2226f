import { t } from 'elysia'
import { originOf } from '../../http/actor.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { routes } from '../../http/routes.ts'
import { errorResponses } from '../../http/schema.ts'
import { type AuthDeps, endSession, refreshSession } from './index.ts'
import { LoginAnswer, RefreshBody } from './model.ts'

/** Renewal and end of sessions, for whoever holds the refresh token. */
export const authRoutes = (deps: HttpDeps & AuthDeps) =>
  routes(deps, 'Login')
    .post('/auth/refresh', ({ body, request }) => refreshSession(deps, body.refreshToken, originOf(deps, request)), {
      access: 'public',
      body: RefreshBody,
      response: { 200: LoginAnswer, ...errorResponses(401, 413, 415) },
      detail: {
        summary: 'Trade a refresh token for new tokens',
        description: 'The old refresh token is spent; using it again ends the session.',
      },
    })
    .post(
      '/auth/logout',
      async ({ body, request, set }) => {
        await endSession(deps, body.refreshToken, originOf(deps, request))
        set.status = 204
      },
      {
        access: 'public',
        body: RefreshBody,
        response: { 204: t.Void({ description: 'The session is over' }), ...errorResponses(413, 415) },
        detail: { summary: 'End a session', description: 'An unknown token is no error.' },
      },
    )
