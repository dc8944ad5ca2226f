import { t } from 'elysia'
import { AppError, invalidField } from '../../../core/errors.ts'
import { type CookieOptions, cookieIn, cookiesIn, possibleCookiesIn, removalsOf, setCookie } from '../../../http/cookies.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { errorResponse } from '../../../http/errors.ts'
import { pageOriginOf } from '../../../http/page-origin.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import { newShopOf } from '../../shop/shop/model.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { shopOfStaffView } from '../merchant/model.ts'
import { cookieName, sessionPath } from './domain.ts'
import { type ConsoleSession, closeConsoleSession, openConsoleSession, resumeConsoleSession, setUpConsole } from './index.ts'
import { SessionAnswer, SessionBody, SetupBody } from './model.ts'

type Headers = { 'set-cookie'?: string | string[] | undefined } & Record<string, string | number | string[] | undefined>
type CookieTarget = CookieOptions & { readonly removals: readonly string[] }

const originRule =
  "For the console's own page only. `Origin` is required and must be that of PUBLIC_URL or of the requested address; otherwise the response is 403."

export const consoleSessionRoutes = (deps: HttpDeps & MerchantDeps & Pick<LiveDeps, 'live'>) => {
  const access = { by: 'console', while: () => deps.config.consoleEnabled } as const

  /**
   * Returns where the page's cookie is stored, and headers that remove other cookies of that name.
   * @param begins whether a session begins, so that existing cookies are replaced
   */
  const cookieTargetOf = (request: Request, begins = false): CookieTarget => {
    const page = pageOriginOf(request, deps.config.publicUrl)
    const options = { name: cookieName(page), path: sessionPath, isSecure: page.isSecure }
    const hasOthers = cookiesIn(request, options.name).length > (begins ? 0 : 1)
    return { ...options, removals: hasOthers ? removalsOf(options, new URL(page.origin).hostname) : [] }
  }

  /**
   * Builds the response. The refresh token goes into the cookie. Sends the event cursor before the page reads anything,
   * so that its event stream misses nothing.
   */
  async function sessionAnswer(session: ConsoleSession, target: CookieTarget, headers: Headers) {
    const { accessToken, expiresIn, role, staffShops, canCreateShops, features, affiliateShops, cookie } = session
    if (cookie) putCookies(headers, [...target.removals, setCookie(target, cookie.value, cookie.maxAgeSeconds)])
    const lastEventId = await deps.live.lastEventId()
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId
    return {
      ...{ accessToken, expiresIn, roles: [role as 'MERCHANT' | 'SUPER_ADMIN'], canCreateShops },
      ...{ features: [...features], affiliateShops: [...affiliateShops], shops: staffShops.map(shopOfStaffView) },
    }
  }

  return routes(deps, 'Console')
    .post(
      '/console/session',
      async ({ body: { email, password, code }, request, set }) => {
        const caller = deps.callerOf(request)
        const target = cookieTargetOf(request, email !== undefined)
        if (email !== undefined && password !== undefined) {
          const before = possibleCookiesIn(request, target.name)
          return await sessionAnswer(await openConsoleSession(deps, { email, password, code }, caller, before), target, set.headers)
        }
        if ((email ?? password ?? code) !== undefined)
          throw invalidField(email === undefined ? 'email' : 'password', 'send email and password, or neither to use the cookie', {
            code: 'missing_field',
          })
        const cookie = cookieIn(request, target.name)
        try {
          return await sessionAnswer(await resumeConsoleSession(deps, cookie, caller), target, set.headers)
        } catch (error) {
          if (!(error instanceof AppError) || error.kind !== 'UNAUTHENTICATED') throw error
          // Removes the invalid cookie.
          const removals = cookie === undefined ? target.removals : [setCookie(target, '', 0)]
          if (removals.length === 0) throw error
          const refusal = errorResponse(error)
          for (const one of removals) refusal.headers.append('set-cookie', one)
          return refusal
        }
      },
      {
        access,
        body: SessionBody,
        response: { 200: SessionAnswer, ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          operationId: 'createConsoleSession',
          'x-event-place': true,
          summary: 'Creates or continues a console session',
          description: `${originRule} With \`email\` and \`password\`, and \`code\` if there is a second factor, this is a login with the errors and limits of \`POST /merchant/login\`. Without them, the session of the cookie continues.

Only the cookie contains the refresh token. It is \`HttpOnly; SameSite=Strict; Path=/console/session\`, and \`Secure\` unless the page is served over http on this machine. It lasts two hours and is renewed by each call; the session ends after REFRESH_TOKEN_SECONDS at the latest. If a cookie is sent again within 10 seconds of its use, the same new cookie is returned; later reuse ends the session. If several cookies of this name are sent, they are ignored and removed.

The response is 401 if there is no session; the cookie is then removed. While there is no super admin, it has \`error: "SETUP_REQUIRED"\`: see \`POST /console/setup\`.`,
        },
      },
    )
    .delete(
      '/console/session',
      async ({ request, set }) => {
        const target = cookieTargetOf(request)
        for (const cookie of possibleCookiesIn(request, target.name)) await closeConsoleSession(deps, cookie, deps.originOf(request))
        putCookies(set.headers, [...target.removals, setCookie(target, '', 0)])
        set.status = 204
      },
      {
        access,
        response: {
          204: t.Void({ description: 'The session has ended, and the cookie was removed' }),
          ...errorResponses(403, 404, 413, 415, 429),
        },
        detail: {
          operationId: 'endConsoleSession',
          summary: 'Ends the console session',
          description: `${originRule} The session's access tokens stop working. A missing or unknown cookie is not an error.`,
        },
      },
    )
    .post(
      '/console/setup',
      async ({ body, request, set }) => {
        const target = cookieTargetOf(request, true)
        const account = { ...body, shop: body.shop && newShopOf(body.shop) }
        const answer = await sessionAnswer(await setUpConsole(deps, account, deps.callerOf(request)), target, set.headers)
        set.status = 201
        return answer
      },
      {
        access,
        body: SetupBody,
        response: { 201: SessionAnswer, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          operationId: 'setUpInstance',
          'x-event-place': true,
          summary: 'Creates the first super admin and a shop',
          description: `${originRule} Requires the token that \`souk serve\` prints while there is no super admin. It works once, within one day, with every process of the instance. With \`shop\`, the account also owns a shop in mode TEST, created in the same transaction; its token has the role \`SUPER_ADMIN\` and opens its own shops like that of an OWNER. Returns a session like \`POST /console/session\`. The response is 409 if there is a super admin, or if the e-mail address or \`shop.shopName\` is taken, 401 for an invalid token, and 429 after 50 invalid tokens from a client address within 15 minutes.`,
        },
      },
    )
}

/** Sends one header per cookie, in this order: browsers apply the last one. */
function putCookies(headers: Headers, cookies: readonly string[]): void {
  headers['set-cookie'] = cookies.length === 1 ? cookies[0] : [...cookies]
}
