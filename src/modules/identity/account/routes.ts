import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import type { CustomerDeps } from '../../customers/customer/index.ts'
import type { LoggedIn } from '../auth/index.ts'
import type { MerchantDeps } from '../merchant/index.ts'
import { changePassword } from './index.ts'
import { ChangePassword } from './model.ts'

/** Lets a logged-in user or customer manage their own account. */
export const accountRoutes = (deps: HttpDeps & MerchantDeps & CustomerDeps) =>
  routes(deps, 'Login').post(
    '/auth/password',
    ({ principal, actor, body, request, set }) =>
      noContent(set, changePassword(deps, { principal: principal as LoggedIn, actor }, body, deps.limitKey(request))),
    {
      access: 'loggedIn',
      body: ChangePassword,
      response: { 204: t.Void({ description: 'The password was changed' }), ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
      detail: {
        operationId: 'changePassword',
        summary: "Changes the caller's password",
        description:
          'Requires the current password; a wrong one is 401 and counts as a failed login. The calling session continues; all other sessions of the account end.',
      },
    },
  )
