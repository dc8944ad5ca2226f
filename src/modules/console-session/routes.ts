import { t } from 'elysia'
import { AppError } from '../../core/errors.ts'
import { type CookiePlace, cookieIn, setCookie } from '../../http/cookies.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { answerTo } from '../../http/errors.ts'
import { ownPageOf } from '../../http/own-page.ts'
import { routes } from '../../http/routes.ts'
import { errorResponses } from '../../http/schema.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { shopOfStaffView } from '../merchant/model.ts'
import { cookieName, sessionPath } from './domain.ts'
import { type ConsoleSession, closeConsole, openConsole, resumeConsole, setUpConsole } from './index.ts'
import { SessionAnswer, SessionBody, SetupBody } from './model.ts'

type Headers = Record<string, string | number>

const ownOrigin =
  'Only for the console’s own page: `Origin` must be that of PUBLIC_URL or of the address that the request is for, else 403, also where there is none.'

export const consoleSessionRoutes = (deps: HttpDeps & MerchantDeps) => {
  const access = { by: 'console', while: () => deps.config.consoleEnabled } as const

  /** Where the page that sends a request keeps its cookie. */
  const placeOf = (request: Request): CookiePlace => {
    const page = ownPageOf(request, deps.config.publicUrl)
    return { name: cookieName(page), path: sessionPath, isSecure: page.isSecure }
  }

  return routes(deps, 'Console')
    .post(
      '/console/session',
      async ({ body: { email, password, code }, request, set }) => {
        const place = placeOf(request)
        const cookie = cookieIn(request, place.name)
        const caller = deps.callerOf(request)
        if (email !== undefined && password !== undefined)
          return answered(await openConsole(deps, { email, password, code }, caller, cookie), place, set.headers)
        if ((email ?? password ?? code) !== undefined)
          throw new AppError('INVALID', 'Send email (body) and password (body) both, or neither to go on by the cookie')
        try {
          return answered(await resumeConsole(deps, cookie, caller), place, set.headers)
        } catch (error) {
          if (cookie === undefined || !(error instanceof AppError) || error.code !== 'UNAUTHENTICATED') throw error
          // It is good for nothing any more.
          const refusal = answerTo(error)
          refusal.headers.append('set-cookie', setCookie(place, '', 0))
          return refusal
        }
      },
      {
        access,
        body: SessionBody,
        response: { 200: SessionAnswer, ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          summary: 'Begin the console’s session, or go on with it',
          description: `${ownOrigin} With \`email\` and \`password\` (and \`code\` where there is a second factor) it is a login as POST /merchant/login is, with its refusals and limits. Without them the session goes on by its cookie. The refresh token is in the cookie alone: \`HttpOnly; SameSite=Strict; Path=/console/session\`, and \`Secure\` unless the page is of http on this machine. It is good for two hours, and renewed each time; the session ends after REFRESH_TOKEN_SECONDS, whatever is done. A cookie that was traded less than 10 seconds ago is answered with the same new one again, so that two pages and an answer that was lost do not end the session; later, using it ends the session. 401 where there is no session any more, and the cookie is removed; with \`error: "SETUP_REQUIRED"\` while there is no super admin: see POST /console/setup.`,
        },
      },
    )
    .delete(
      '/console/session',
      async ({ request, set }) => {
        const place = placeOf(request)
        const cookie = cookieIn(request, place.name)
        if (cookie !== undefined) await closeConsole(deps, cookie, deps.originOf(request))
        set.headers['set-cookie'] = setCookie(place, '', 0)
        set.status = 204
      },
      {
        access,
        response: {
          204: t.Void({ description: 'The session is over, and the cookie removed' }),
          ...errorResponses(403, 404, 413, 415, 429),
        },
        detail: {
          summary: 'End the console’s session',
          description: `${ownOrigin} Its access tokens end with it. Without a cookie, or with one that is unknown, it is no error.`,
        },
      },
    )
    .post(
      '/console/setup',
      async ({ body, request, set }) => {
        const place = placeOf(request)
        const begun = answered(await setUpConsole(deps, body, deps.callerOf(request)), place, set.headers)
        set.status = 201
        return begun
      },
      {
        access,
        body: SetupBody,
        response: { 201: SessionAnswer, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          summary: 'Make the first super admin',
          description: `${ownOrigin} For whoever has the token that \`souk serve\` prints while there is no super admin: good once, for a day, and for every process of the instance. 409 as soon as there is a super admin, whatever the token, and where the e-mail address is taken; 401 for a token that is not good, 429 after 50 of them from an address within 15 minutes. The answer is that of POST /console/session.`,
        },
      },
    )
}

/** What the page is told; the refresh token goes into its cookie. */
function answered({ accessToken, expiresIn, role, places, cookie }: ConsoleSession, place: CookiePlace, headers: Headers) {
  if (cookie) headers['set-cookie'] = setCookie(place, cookie.value, cookie.maxAgeSeconds)
  return { accessToken, expiresIn, roles: [role as 'MERCHANT' | 'SUPER_ADMIN'], shops: places.map(shopOfStaffView) }
}
