import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { assertShopOrigin } from '../../../http/shop.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  type AuthDeps,
  endOtherSessions,
  endOwnSession,
  endSession,
  type LoggedIn,
  listOwnSessions,
  refreshSession,
  shopOfRefreshToken,
} from './index.ts'
import { ListSessions, LoginAnswer, RefreshBody, Sessions } from './model.ts'

/** Renews, ends and lists sessions. */
export const authRoutes = (deps: HttpDeps & AuthDeps) =>
  routes(deps, 'Login')
    .post(
      '/auth/refresh',
      async ({ body: { refreshToken }, request }) => {
        await assertShopPage(deps, refreshToken, request)
        return (await refreshSession(deps, refreshToken, deps.callerOf(request))).login
      },
      {
        access: 'public',
        body: RefreshBody,
        response: { 200: LoginAnswer, ...errorResponses(401, 403, 413, 415) },
        detail: {
          summary: 'Trade a refresh token for new tokens',
          description:
            'The old refresh token is used up. Sent again within 10 seconds of its first use, it gets the same two tokens again, even if the new refresh token has been used since: for two requests at once, and for an answer that was lost. Sent later, it ends the session.',
        },
      },
    )
    .post(
      '/auth/logout',
      async ({ body: { refreshToken }, request, set }) => {
        await assertShopPage(deps, refreshToken, request)
        await endSession(deps, refreshToken, deps.originOf(request))
        set.status = 204
      },
      {
        access: 'public',
        body: RefreshBody,
        response: { 204: t.Void({ description: 'The session is over' }), ...errorResponses(403, 413, 415) },
        detail: { summary: 'End a session', description: 'An unknown token is no error.' },
      },
    )
    .get('/auth/sessions', ({ principal, query }) => listOwnSessions(deps, principal as LoggedIn, sliceOf(query)), {
      access: 'loggedIn',
      query: ListSessions,
      response: { 200: Sessions, ...errorResponses(401, 403, 404) },
      detail: { summary: "One's own sessions", description: 'Those that are not over, newest first.' },
    })
    .delete(
      '/auth/sessions',
      async ({ principal, actor, set }) => {
        await endOtherSessions(deps, principal as LoggedIn, actor)
        set.status = 204
      },
      {
        access: 'loggedIn',
        response: { 204: t.Void({ description: 'All other sessions are over' }), ...errorResponses(401, 403, 404) },
        detail: { summary: "End all of one's sessions but the one that asks" },
      },
    )
    .delete(
      '/auth/sessions/:id',
      async ({ principal, actor, params, set }) => {
        await endOwnSession(deps, principal as LoggedIn, actor, params.id)
        set.status = 204
      },
      {
        access: 'loggedIn',
        params: RecordId,
        response: { 204: t.Void({ description: 'The session is over' }), ...errorResponses(401, 403, 404) },
        detail: { summary: "End one of one's own sessions", description: 'With every token of it; also the one that asks.' },
      },
    )

/** Checks the `Origin` of requests with a customer's token, if the shop has set origins. */
async function assertShopPage(deps: HttpDeps & AuthDeps, refreshToken: string, { headers }: Request): Promise<void> {
  if (!headers.has('origin')) return
  const shopId = await shopOfRefreshToken(deps, refreshToken)
  if (shopId !== undefined) assertShopOrigin(headers, (await deps.identity.shop(shopId))?.origins ?? [])
}
