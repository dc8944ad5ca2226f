import type { ListRequest } from '../../../core/csv-list.ts'
import { AppError } from '../../../core/errors.ts'
import type { Principal } from '../../../core/principal.ts'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import { assertShopOrigin, shopNamed } from '../../../http/shop.ts'
import { sliceOf } from '../../../lib/page.ts'
import { LoginAnswer } from '../../identity/auth/model.ts'
import { offerAccountClaim, type PasswordResetDeps } from '../../identity/password-reset/index.ts'
import { addressesByCustomer, addressesPerCustomerMax, customerView, orderIdsMax } from './domain.ts'
import {
  addAddress,
  type CustomerDeps,
  createBookAddress,
  createCustomer,
  enterAddress,
  listCustomers,
  listOrderIds,
  logInCustomer,
  readAddress,
  readCustomer,
  readCustomerChunk,
  signUpCustomer,
} from './index.ts'
import {
  AddAddress,
  AddressInput,
  AddressRecord,
  BookAddressInput,
  CreateCustomer,
  CustomerLogin,
  CustomerPath,
  CustomerRecord,
  CustomerSignup,
  Customers,
  ListCustomers,
  ListOrderIds,
  OrderIdRows,
  OrderIds,
} from './model.ts'

export const customerLoginRoutes = (deps: HttpDeps & CustomerDeps & PasswordResetDeps) =>
  routes(deps, 'Login')
    .post(
      '/customer/signup',
      async ({ body, request, set }) => {
        const shop = await shopNamed(deps, body.shopName)
        assertShopOrigin(request.headers, shop.origins)
        const { email, password, name = '' } = body
        const customer = await signUpCustomer(deps, { shopId: shop.id, email, password, name }, deps.callerOf(request)).catch(
          async (error: unknown) => {
            if (error instanceof AppError && error.code === 'CONFLICT')
              await offerAccountClaim(deps, { shopId: shop.id, email }, deps.callerOf(request))
            throw error
          },
        )
        set.status = 201
        return customerView(customer, shop.currency)
      },
      {
        access: 'public',
        body: CustomerSignup,
        response: { 201: CustomerRecord, ...errorResponses(403, 404, 409, 413, 415, 429) },
        detail: {
          summary: 'Become a customer of a shop',
          description:
            'An e-mail address that the shop has is 409. Where the shop itself made that account (`POST /customer`, an import), a mail goes to the address, by whose link its owner chooses a password: an account like that is claimed by mail only. So does `POST /auth/password/forgot`.',
        },
      },
    )
    .post(
      '/customer/login',
      async ({ body, request }) => {
        const shop = await deps.identity.shopNamed(body.shopName)
        assertShopOrigin(request.headers, shop?.origins ?? [])
        const { email, password } = body
        return logInCustomer(deps, { shopId: shop?.id, email, password }, deps.callerOf(request))
      },
      {
        access: 'login',
        body: CustomerLogin,
        response: { 200: LoginAnswer, ...errorResponses(401, 403, 413, 415, 429) },
        detail: { summary: "Log in as a shop's customer", description: 'Limited like the login of merchants.' },
      },
    )

/** Merchants and secret keys act for the shop, customers for themselves. */
const customerIdOf = (principal: Principal): string | undefined => (principal.kind === 'customer' ? principal.id : undefined)

export const customerRoutes = (deps: HttpDeps & CustomerDeps) =>
  routes(deps, 'Customers')
    .get('/customer', ({ query: { q, email, ...page }, shop }) => listCustomers(deps, shop, { q, email }, sliceOf(page)), {
      access: 'customerRead',
      csv: csvOf('customers', Customers, ({ shop, query: { q, email } }: ListRequest<{ q?: string; email?: string }>, slice) =>
        readCustomerChunk(deps, shop, { q, email }, slice),
      ),
      query: ListCustomers,
      response: { 200: Customers, ...errorResponses(401, 403, 404) },
      detail: {
        summary: "The shop's customers",
        description:
          'Newest first; `q` and `email` both count. With `q`, `total` is exact up to 1,000, then 1,000 with `totalCapped: true`, and nothing lies past it; without a filter it is exact, and a page at the end costs what the first does. Guests are no customers: their orders are found among the orders. After an upgrade from a version that had no such search, a job makes what is there findable: until it is through, what it has not come to yet is missing from what `q` finds, and `totalCapped: true` says so.',
      },
    })
    .post('/customer', ({ body, shop, actor, once }) => once(201, (write) => createCustomer(deps, { shop, actor, write }, body)), {
      access: 'management',
      idempotent: true,
      body: CreateCustomer,
      response: { 201: CustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        summary: 'Make a customer',
        description:
          'Without a password, so they do not log in, and nobody is sent a mail: whoever has the address claims the account by a mail that they ask for, by signing up or with `POST /auth/password/forgot`. E-mail addresses are compared without case; one that the shop has is 409.',
      },
    })
    .get('/customer/:customerId', ({ params, shop }) => readCustomer(deps, shop, params.customerId), {
      access: 'customerRead',
      params: CustomerPath,
      response: { 200: CustomerRecord, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'A customer of the shop',
        description: '`updatedAt` tells of their own details, not of their addresses and orders.',
      },
    })
    .get(
      '/customer/:customerId/order-ids',
      ({ params, query, shop }) => listOrderIds(deps, shop, params.customerId, sliceOf(query, orderIdsMax)),
      {
        access: 'customerRead',
        csv: csvOf('customer-order-ids', OrderIdRows, async ({ shop, params }: ListRequest<object, { customerId: string }>, slice) => {
          const { orderIds } = await listOrderIds(deps, shop, params.customerId, slice)
          return { data: orderIds.map((id) => ({ id })) }
        }),
        params: CustomerPath,
        query: ListOrderIds,
        response: { 200: OrderIds, ...errorResponses(401, 403, 404) },
        detail: { summary: "The ids of a customer's orders", description: 'Newest first, whatever became of them.' },
      },
    )
    .post(
      '/customer/:customerId/addresses',
      ({ params, body, shop, actor, once }) =>
        once(201, (write) => createBookAddress(deps, { shop, actor, write }, params.customerId, body), {
          sees: () => readCustomer(deps, shop, params.customerId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: CustomerPath,
        body: BookAddressInput,
        response: { 201: AddressRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: "Make an address in a customer's book",
          description: `A book has at most ${addressesPerCustomerMax} addresses (409), and one default of each kind.`,
        },
      },
    )
    .post(
      '/customer/:customerId/addresses/add',
      ({ params, body, shop, actor }) => addAddress(deps, { shop, actor }, params.customerId, body),
      {
        access: 'management',
        params: CustomerPath,
        body: AddAddress,
        response: { 200: CustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          summary: "Put an address of the shop into a customer's book",
          description:
            'Answers the customer. An address that is in the book already stays, and takes the flags that are sent; one in another ' +
            `customer's book is 409, as is a book that has ${addressesPerCustomerMax}.`,
        },
      },
    )
    .post(
      '/addresses',
      ({ body, shop, principal, actor, once }) =>
        once(201, (write) => enterAddress(deps, { shop, actor, write }, customerIdOf(principal), body)),
      {
        access: 'address',
        idempotent: true,
        body: AddressInput,
        response: { 201: AddressRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          summary: "Enter an address that is in nobody's book yet",
          description: `The shop puts it into one by \`POST /customer/{customerId}/addresses/add\`. A customer enters at most ${addressesByCustomer.most} an hour.`,
        },
      },
    )
    .get('/addresses/:id', ({ params, shop, principal }) => readAddress(deps, shop, customerIdOf(principal), params.id), {
      access: 'addressRead',
      params: RecordId,
      response: { 200: AddressRecord, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'An address',
        description:
          'A merchant and a secret key read every address of the shop; a customer those of their book, and what they entered until it is in another.',
      },
    })
