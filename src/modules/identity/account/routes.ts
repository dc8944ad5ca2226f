import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
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
    async ({ principal, actor, body, request, set }) => {
      await changePassword(deps, { who: principal as LoggedIn, actor }, body, deps.limitKey(request))
      set.status = 204
    },
    {
      access: 'loggedIn',
      body: ChangePassword,
      response: { 204: t.Void({ description: 'The password is changed' }), ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
      detail: {
        summary: "Change one's password",
        description:
          'Needs the one before; a wrong one is 401 and counts like a failed login. The session that asks goes on, all others of the account end.',
      },
    },
  )
