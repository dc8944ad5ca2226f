import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
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
        operationId: 'getTwoFactor',
        summary: "Returns the state of the caller's second factor",
        description: 'The response also says how many recovery codes are left.',
      },
    })
    .post(
      '/auth/totp',
      async ({ principal, actor, body, request, set }) => {
        const factor = await beginTotp(deps, { principal: principal as LoggedIn, actor }, body, deps.limitKey(request))
        set.status = 201
        return factor
      },
      {
        access: 'merchantOrSuperAdmin',
        body: BeginTotp,
        response: { 201: BegunTotp, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          operationId: 'beginTwoFactor',
          summary: 'Begins to set up a second factor',
          description:
            'Creates a secret for an authenticator app (RFC 6238: HMAC-SHA-1, six digits, 30 seconds). To turn the second factor on, call `POST /auth/totp/confirm` within an hour. Until then, another call replaces the secret. Requires the password; a wrong one is 401 and counts as a failed login. The response is 409 if a second factor is on. `Idempotency-Key` has no effect, because secrets are not stored for a replay.',
        },
      },
    )
    .post('/auth/totp/confirm', ({ principal, actor, body }) => confirmTotp(deps, { principal: principal as LoggedIn, actor }, body.code), {
      access: 'merchantOrSuperAdmin',
      body: ConfirmTotp,
      response: { 200: RecoveryCodes, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        operationId: 'confirmTwoFactor',
        summary: 'Turns the second factor on',
        description:
          'Requires a code of the secret from `POST /auth/totp`; a wrong code is 401 and changes nothing. The code counts as used: wait for the next one to log in. All other sessions of the account end. Changing or resetting the password leaves the second factor on. The response is 409 if setup was not begun within the last hour, or if a second factor is on. `Idempotency-Key` has no effect; if you lose the recovery codes, turn the second factor off and set it up again.',
      },
    })
    .delete(
      '/auth/totp',
      ({ principal, actor, body, request, set }) =>
        noContent(set, removeTotp(deps, { principal: principal as LoggedIn, actor }, body, deps.limitKey(request))),
      {
        access: 'merchantOrSuperAdmin',
        body: RemoveTotp,
        response: {
          204: t.Void({ description: 'The second factor is off, and its recovery codes no longer work' }),
          ...errorResponses(401, 403, 404, 409, 413, 415, 429),
        },
        detail: {
          operationId: 'disableTwoFactor',
          summary: 'Turns the second factor off',
          description:
            'Requires the password and a code or recovery code. A wrong password is 401 and counts as a failed login. A wrong code is 401 with `error: "TOTP_REQUIRED"`; after ten in a row the response is 429 for 15 minutes. The response is 409 if there is no second factor. If you have neither code, ask the operator (`souk totp remove`).',
        },
      },
    )
