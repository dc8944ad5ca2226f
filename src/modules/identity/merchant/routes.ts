import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { findKybOf, type KybDeps } from '../../shop/kyb/index.ts'
import { shopView } from '../../shop/shop/model.ts'
import { LoginAnswer } from '../auth/model.ts'
import { shopsOfMember } from '../member/index.ts'
import { hasFactor } from '../second-factor/index.ts'
import { login, type MerchantDeps, readMerchant, signUp } from './index.ts'
import { LoginBody, Me, merchantView, SignupAnswer, SignupBody, shopOfStaffView } from './model.ts'

export const loginRoutes = (deps: HttpDeps & MerchantDeps) =>
  routes(deps, 'Login').post('/merchant/login', ({ body, request }) => login(deps, body, deps.callerOf(request)), {
    access: 'login',
    body: LoginBody,
    response: { 200: LoginAnswer, ...errorResponses(401, 413, 415, 429) },
    detail: {
      operationId: 'logInMerchant',
      summary: 'Logs in a merchant or super admin',
      description: `The response is 429 after ten failed logins of an account from one client address, or 50 from one client address, within 15 minutes.

If the account has a second factor, a correct password without a valid \`code\` is 401 with \`error: "TOTP_REQUIRED"\` and does not count as a failed login. Codes of the previous and next 30 seconds are accepted too; a code works once, and older codes than the last one used are rejected. A recovery code replaces a code. After ten wrong codes in a row, logins with the correct password are 429 for 15 minutes.`,
    },
  })

export const merchantRoutes = (deps: HttpDeps & MerchantDeps & KybDeps) =>
  routes(deps, 'Login')
    .post(
      '/merchant/signup',
      async ({ body, request, set }) => {
        const { email, password, shopName: name, country, currency } = body
        const { user, shop } = await signUp(deps, { email, password }, { name, country, currency }, deps.callerOf(request))
        set.status = 201
        return { merchant: merchantView(user), shop: shopView(shop) }
      },
      {
        access: { by: 'public', while: () => deps.config.signupEnabled },
        body: SignupBody,
        response: { 201: SignupAnswer, ...errorResponses(404, 409, 413, 415, 429) },
        detail: {
          operationId: 'signUpMerchant',
          summary: 'Creates a merchant and a shop',
          description:
            'The response is 404 unless SIGNUP_ENABLED is true. The shop starts in mode TEST. At most 30 sign-ups an hour from one client address.',
        },
      },
    )
    .get(
      '/merchant/me',
      async ({ principal, shop }) => {
        const user = await readMerchant(deps, principal.id)
        // Only the owner's own KYB is shown.
        const owned = principal.kind === 'merchant' && principal.role === 'OWNER' ? shop.merchantId : undefined
        const [staffShops, secondFactor, kyb] = await Promise.all([
          shopsOfMember(deps, user.id),
          hasFactor(deps, user.id),
          owned === undefined ? undefined : findKybOf(deps, owned),
        ])
        return { merchant: { ...merchantView(user), secondFactor }, shops: staffShops.map(shopOfStaffView), kyb: kyb ?? null }
      },
      {
        access: 'account',
        response: { 200: Me, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'getOwnMerchant',
          summary: "Returns the caller's account and shops",
          description:
            "Lists the shops in which the caller works, each with `role`, in the order of joining; the list may be empty. The first shop is the default if you send no `x-shop-id`. `kyb` is the KYB record of the selected shop's business if the caller is its OWNER; otherwise null.",
        },
      },
    )
