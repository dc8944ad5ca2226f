import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { LoggedIn } from '../auth/index.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { beginTotp, confirmTotp, readTotp, removeTotp } from './index.ts'
import { BeginTotp, BegunTotp, ConfirmTotp, RecoveryCodes, RemoveTotp, Totp } from './model.ts'

/** The second factor of merchants and operators: one-time codes of an authenticator app (RFC 6238). */
export const totpRoutes = (deps: HttpDeps & MerchantDeps) =>
  routes(deps, 'Login')
    .get('/auth/totp', ({ principal }) => readTotp(deps, principal as LoggedIn), {
      access: 'merchantOrSuperAdmin',
      // 404: the shop named in the request does not exist.
      response: { 200: Totp, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'Whether your second factor is on',
        description: 'Of the account that is logged in, with how many of its recovery codes are left.',
      },
    })
    .post(
      '/auth/totp',
      async ({ principal, actor, body, request, set }) => {
        const factor = await beginTotp(deps, { who: principal as LoggedIn, actor }, body, deps.limitKey(request))
        set.status = 201
        return factor
      },
      {
        access: 'merchantOrSuperAdmin',
        body: BeginTotp,
        response: { 201: BegunTotp, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          summary: 'Begin a second factor',
          description:
            'Makes a secret for an authenticator app (RFC 6238: HMAC-SHA-1, six digits, 30 seconds). Logins ask for its codes once POST /auth/totp/confirm has seen one, within an hour; until then it is replaced by asking again. Needs the password; a wrong one is 401 and counts like a failed login. 409 where a second factor is on. An `Idempotency-Key` has no effect: a secret is not kept to be shown again.',
        },
      },
    )
    .post('/auth/totp/confirm', ({ principal, actor, body }) => confirmTotp(deps, { who: principal as LoggedIn, actor }, body.code), {
      access: 'merchantOrSuperAdmin',
      body: ConfirmTotp,
      response: { 200: RecoveryCodes, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        summary: 'Turn the second factor on',
        description:
          'With a code of what was begun; a wrong one is 401 and changes nothing. That code counts as used: the next login takes the next one. All other sessions of the account end, since they were begun without it. A new password, also by a reset, leaves the second factor on. 409 where nothing was begun within the hour, or it is on. An `Idempotency-Key` has no effect; recovery codes that got lost on the way come anew by removing the factor and beginning another.',
      },
    })
    .delete(
      '/auth/totp',
      async ({ principal, actor, body, request, set }) => {
        await removeTotp(deps, { who: principal as LoggedIn, actor }, body, deps.limitKey(request))
        set.status = 204
      },
      {
        access: 'merchantOrSuperAdmin',
        body: RemoveTotp,
        response: {
          204: t.Void({ description: 'The second factor is off, and its recovery codes are void' }),
          ...errorResponses(401, 403, 404, 409, 413, 415, 429),
        },
        detail: {
          summary: 'Turn the second factor off',
          description:
            'Needs the password and a code, or a recovery code. A wrong password is 401 and counts like a failed login; a wrong code is 401 with `error: "TOTP_REQUIRED"` and counts like one of a login: ten in a row are 429 for 15 minutes. 409 where none is on. Who has neither code is helped by the operator (`souk totp remove`).',
        },
      },
    )
