import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
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
          operationId: 'refreshTokens',
          summary: 'Refreshes tokens',
          description:
            'Returns new tokens for a refresh token, which works once. If it is sent again within 10 seconds, for example after a lost response, the same tokens are returned, even if the new refresh token was used meanwhile. Later reuse ends the session.',
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
        response: { 204: t.Void({ description: 'The session has ended' }), ...errorResponses(403, 413, 415) },
        detail: {
          operationId: 'logOut',
          summary: 'Logs out',
          description: 'Ends the session of the refresh token. An unknown token is not an error.',
        },
      },
    )
    .get('/auth/sessions', ({ principal, query }) => listOwnSessions(deps, principal as LoggedIn, sliceOf(query)), {
      access: 'loggedIn',
      query: ListSessions,
      response: { 200: Sessions, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listSessions',
        summary: "Lists the caller's sessions",
        description: 'Returns active sessions, newest first.',
      },
    })
    .delete('/auth/sessions', ({ principal, actor, set }) => noContent(set, endOtherSessions(deps, principal as LoggedIn, actor)), {
      access: 'loggedIn',
      response: { 204: t.Void({ description: 'All other sessions have ended' }), ...errorResponses(401, 403, 404) },
      detail: { operationId: 'endSessions', summary: 'Ends all other sessions of the caller' },
    })
    .delete(
      '/auth/sessions/:id',
      ({ principal, actor, params, set }) => noContent(set, endOwnSession(deps, principal as LoggedIn, actor, params.id)),
      {
        access: 'loggedIn',
        params: RecordId,
        response: { 204: t.Void({ description: 'The session has ended' }), ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'endSession',
          summary: 'Ends a session of the caller',
          description: 'All of its tokens stop working. The calling session can end itself.',
        },
      },
    )

/** Checks the `Origin` of requests with a customer's token, if the shop has set origins. */
async function assertShopPage(deps: HttpDeps & AuthDeps, refreshToken: string, { headers }: Request): Promise<void> {
  if (!headers.has('origin')) return
  const shopId = await shopOfRefreshToken(deps, refreshToken)
  if (shopId !== undefined) assertShopOrigin(headers, (await deps.identity.shop(shopId))?.origins ?? [])
}
