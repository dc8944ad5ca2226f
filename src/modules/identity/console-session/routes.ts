import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { type CookieOptions, cookieIn, cookiesIn, possibleCookiesIn, removalsOf, setCookie } from '../../../http/cookies.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { errorResponse } from '../../../http/errors.ts'
import { pageOriginOf } from '../../../http/page-origin.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { LiveDeps } from '../../messaging/live-events/index.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { shopOfStaffView } from '../merchant/model.ts'
import { cookieName, sessionPath } from './domain.ts'
import { type ConsoleSession, closeConsoleSession, openConsoleSession, resumeConsoleSession, setUpConsole } from './index.ts'
import { SessionAnswer, SessionBody, SetupBody } from './model.ts'

type Headers = { 'set-cookie'?: string | string[] | undefined } & Record<string, string | number | string[] | undefined>
type CookieTarget = CookieOptions & { readonly removals: readonly string[] }

const originRule =
  'Only for the console’s own page: `Origin` must be that of PUBLIC_URL or of the address that the request is for, else 403, also where there is none.'

export const consoleSessionRoutes = (deps: HttpDeps & MerchantDeps & Pick<LiveDeps, 'live'>) => {
  const access = { by: 'console', while: () => deps.config.consoleEnabled } as const

  /**
   * Returns where the page's cookie is stored, and headers that remove other cookies of that name.
   * @param begins whether a session begins, so that existing cookies are replaced
   */
  const cookieTargetOf = (request: Request, begins = false): CookieTarget => {
    const page = pageOriginOf(request, deps.config.publicUrl)
    const place = { name: cookieName(page), path: sessionPath, isSecure: page.isSecure }
    const hasOthers = cookiesIn(request, place.name).length > (begins ? 0 : 1)
    return { ...place, removals: hasOthers ? removalsOf(place, new URL(page.origin).hostname) : [] }
  }

  /**
   * Builds the response. The refresh token goes into the cookie. Sends the event cursor before the page reads anything,
   * so that its event stream misses nothing.
   */
  async function sessionAnswer({ accessToken, expiresIn, role, places, cookie }: ConsoleSession, place: CookieTarget, headers: Headers) {
    if (cookie) putCookies(headers, [...place.removals, setCookie(place, cookie.value, cookie.maxAgeSeconds)])
    const lastEventId = await deps.live.lastEventId()
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId
    return { accessToken, expiresIn, roles: [role as 'MERCHANT' | 'SUPER_ADMIN'], shops: places.map(shopOfStaffView) }
  }

  return routes(deps, 'Console')
    .post(
      '/console/session',
      async ({ body: { email, password, code }, request, set }) => {
        const caller = deps.callerOf(request)
        const place = cookieTargetOf(request, email !== undefined)
        if (email !== undefined && password !== undefined) {
          const before = possibleCookiesIn(request, place.name)
          return await sessionAnswer(await openConsoleSession(deps, { email, password, code }, caller, before), place, set.headers)
        }
        if ((email ?? password ?? code) !== undefined)
          throw new AppError('INVALID', 'Send email (body) and password (body) both, or neither to go on by the cookie')
        const cookie = cookieIn(request, place.name)
        try {
          return await sessionAnswer(await resumeConsoleSession(deps, cookie, caller), place, set.headers)
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'UNAUTHENTICATED') throw error
          // Removes the invalid cookie.
          const removals = cookie === undefined ? place.removals : [setCookie(place, '', 0)]
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
          'x-event-place': true,
          summary: 'Begin the console’s session, or go on with it',
          description: `${originRule} With \`email\` and \`password\` (and \`code\` where there is a second factor) it is a login as POST /merchant/login is, with its refusals and limits. Without them the session goes on by its cookie. The refresh token is in the cookie alone: \`HttpOnly; SameSite=Strict; Path=/console/session\`, and \`Secure\` unless the page is of http on this machine. It is good for two hours, and renewed each time; the session ends after REFRESH_TOKEN_SECONDS, whatever is done. A cookie that was traded less than 10 seconds ago is answered with the same new one again, so that two pages and an answer that was lost do not end the session; later, using it ends the session. A cookie that comes more than once, since something else of the host or its domain has set one of that name, counts as none, and all of them are removed. 401 where there is no session any more, and the cookie is removed; with \`error: "SETUP_REQUIRED"\` while there is no super admin: see POST /console/setup.`,
        },
      },
    )
    .delete(
      '/console/session',
      async ({ request, set }) => {
        const place = cookieTargetOf(request)
        for (const cookie of possibleCookiesIn(request, place.name)) await closeConsoleSession(deps, cookie, deps.originOf(request))
        putCookies(set.headers, [...place.removals, setCookie(place, '', 0)])
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
          description: `${originRule} Its access tokens end with it. Without a cookie, or with one that is unknown, it is no error.`,
        },
      },
    )
    .post(
      '/console/setup',
      async ({ body, request, set }) => {
        const place = cookieTargetOf(request, true)
        const answer = await sessionAnswer(await setUpConsole(deps, body, deps.callerOf(request)), place, set.headers)
        set.status = 201
        return answer
      },
      {
        access,
        body: SetupBody,
        response: { 201: SessionAnswer, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          'x-event-place': true,
          summary: 'Make the first super admin',
          description: `${originRule} For whoever has the token that \`souk serve\` prints while there is no super admin: good once, for a day, and for every process of the instance. 409 as soon as there is a super admin, whatever the token, and where the e-mail address is taken; 401 for a token that is not good, 429 after 50 of them from an address within 15 minutes. The answer is that of POST /console/session.`,
        },
      },
    )
}

/** Sends one header per cookie, in this order: browsers apply the last one. */
function putCookies(headers: Headers, cookies: readonly string[]): void {
  headers['set-cookie'] = cookies.length === 1 ? cookies[0] : [...cookies]
}
