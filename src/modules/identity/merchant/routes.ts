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
      summary: 'Log in as a merchant or a super admin',
      description:
        'Ten failures within 15 minutes for an account from an address, or 50 from an address, are answered 429. Where the account has a second factor (POST /auth/totp), a right password without a good `code` is answered 401 with `error: "TOTP_REQUIRED"`, and is no failed login; a wrong password is answered as ever, whatever the code. A code of the step before or after the present one is taken too; each is taken once, and none from before the latest that was taken. A recovery code stands in for one. After ten wrong codes in a row, from wherever, a right password for the account is answered 429 for 15 minutes, whatever code comes with it.',
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
          summary: 'Open a shop',
          description: 'Off (404) unless SIGNUP_ENABLED. The shop starts in mode TEST. At most 30 an hour from an address.',
        },
      },
    )
    .get(
      '/merchant/me',
      async ({ principal, shop }) => {
        const user = await readMerchant(deps, principal.id)
        // Only the owner's own KYB is shown.
        const owned = principal.kind === 'merchant' && principal.role === 'OWNER' ? shop.merchantId : undefined
        const [places, secondFactor, kyb] = await Promise.all([
          shopsOfMember(deps, user.id),
          hasFactor(deps, user.id),
          owned === undefined ? undefined : findKybOf(deps, owned),
        ])
        return { merchant: { ...merchantView(user), secondFactor }, shops: places.map(shopOfStaffView), kyb: kyb ?? null }
      },
      {
        access: 'account',
        response: { 200: Me, ...errorResponses(401, 403, 404) },
        detail: {
          summary: 'The merchant who is logged in, with the shops that they work in',
          description:
            'Also for somebody who works in no shop (any more). Each shop with their `role`, the one that they came to first before the others: it is meant where no `x-shop-id` is sent. `kyb`: the record of the business behind the shop that is meant, where they are its OWNER; else null.',
        },
      },
    )
