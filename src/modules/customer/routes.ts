import { Elysia } from 'elysia'
import type { HttpDeps } from '../../deps.ts'
import { access, assertShopOrigin } from '../../http/access.ts'
import { requestIdOf } from '../../http/actor.ts'
import { refusals } from '../../http/schema.ts'
import { shopNamed } from '../../http/shop.ts'
import { LoginAnswer } from '../auth/model.ts'
import { CustomerLogin, CustomerRecord, CustomerSignup, customerView } from './model.ts'
import { type CustomerDeps, logInCustomer, signUpCustomer } from './service.ts'

export const customerLoginRoutes = (deps: HttpDeps & CustomerDeps) =>
  new Elysia({ tags: ['Login'] })
    .use(access(deps))
    .post(
      '/customer/signup',
      async ({ body, request, set }) => {
        const shop = await shopNamed(deps, body.shopName)
        assertShopOrigin(request.headers, shop.origins)
        const customer = await signUpCustomer(
          deps,
          { shopId: shop.id, email: body.email, password: body.password, name: body.name ?? '' },
          deps.limitKey(request),
          requestIdOf(request),
        )
        set.status = 201
        return customerView(customer)
      },
      {
        access: 'public',
        body: CustomerSignup,
        response: { 201: CustomerRecord, ...refusals(403, 404, 409, 413, 415, 429) },
        detail: { summary: 'Become a customer of a shop' },
      },
    )
    .post(
      '/customer/login',
      async ({ body, request }) => {
        const shop = await deps.shopStore.findByName(body.shopName)
        assertShopOrigin(request.headers, shop?.origins ?? [])
        const { email, password } = body
        return logInCustomer(deps, { shopId: shop?.id, email, password }, deps.limitKey(request), requestIdOf(request))
      },
      {
        access: 'public',
        body: CustomerLogin,
        response: { 200: LoginAnswer, ...refusals(401, 403, 413, 415, 429) },
        detail: { summary: "Log in as a shop's customer", description: 'Limited like the login of merchants.' },
      },
    )
