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
import { addressesByCustomer, addressesPerCustomerMax, type CustomerQuery, customerView, orderIdsMax } from './domain.ts'
import {
  addAddress,
  type CustomerDeps,
  changeCustomer,
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
  ChangeCustomer,
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
  OwnCustomerRecord,
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
            if (error instanceof AppError && error.kind === 'CONFLICT')
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
        response: { 201: OwnCustomerRecord, ...errorResponses(403, 404, 409, 413, 415, 429) },
        detail: {
          operationId: 'signUpCustomer',
          summary: 'Signs up a customer',
          description:
            'The response is 409 if the shop has a customer with the e-mail address. If the shop created that account itself (`POST /customer` or an import), its owner is sent an e-mail with a link to choose a password: such an account can only be claimed by e-mail. `POST /auth/password/forgot` sends the same e-mail.',
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
        detail: {
          operationId: 'logInCustomer',
          summary: 'Logs in a customer',
          description: "The limits of the merchants' login apply.",
        },
      },
    )

/** Merchants and secret keys act for the shop, customers for themselves. */
const customerIdOf = (principal: Principal): string | undefined => (principal.kind === 'customer' ? principal.id : undefined)

export const customerRoutes = (deps: HttpDeps & CustomerDeps) =>
  routes(deps, 'Customers')
    .get(
      '/customer',
      ({ query: { q, email, tag, sort, ...page }, shop }) => listCustomers(deps, shop, { q, email, tag }, sliceOf(page), sort),
      {
        access: 'customerRead',
        csv: csvOf('customers', Customers, ({ shop, query: { q, email, tag } }: ListRequest<CustomerQuery>, slice) =>
          readCustomerChunk(deps, shop, { q, email, tag }, slice),
        ),
        query: ListCustomers,
        response: { 200: Customers, ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'listCustomers',
          summary: 'Lists customers',
          description:
            'Returns customers, newest first unless `sort` says otherwise. Customers must match all of `q`, `email` and `tag`. With `tag` alone, `total` is exact up to 2,000; above that it is 2,000 with `totalCapped: true`, and later pages still return customers. With `q`, `total` is exact up to 1,000; above that it is 1,000 with `totalCapped: true`, and later pages are empty. Without a filter, `total` is exact. Guests are not listed: search the orders instead. After an upgrade from a version without this search, a background job indexes existing customers. Until it is done, `q` finds only indexed customers, and the response says `totalCapped: true`.',
        },
      },
    )
    .post('/customer', ({ body, shop, actor, once }) => once(201, (write) => createCustomer(deps, { shop, actor, write }, body)), {
      access: 'management',
      idempotent: true,
      body: CreateCustomer,
      response: { 201: CustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
      detail: {
        operationId: 'createCustomer',
        summary: 'Creates a customer',
        description:
          'The account has no password, and no e-mail is sent. The customer claims the account with `POST /auth/password/forgot` or by signing up. The response is 409 if the shop has a customer with the e-mail address, which is not case-sensitive.',
      },
    })
    .get('/customer/:customerId', ({ params, shop }) => readCustomer(deps, shop, params.customerId), {
      access: 'customerRead',
      versioned: true,
      params: CustomerPath,
      response: { 200: CustomerRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getCustomer',
        summary: 'Returns a customer',
        description: "`updatedAt` is about the customer's own fields, not the addresses and orders.",
      },
    })
    .patch(
      '/customer/:customerId',
      ({ params, body, shop, actor, expected, once }) =>
        once(200, (write) => changeCustomer(deps, { shop, actor, expected, write }, params.customerId, body), {
          assertVisible: () => readCustomer(deps, shop, params.customerId),
        }),
      {
        access: 'management',
        versioned: true,
        idempotent: true,
        params: CustomerPath,
        body: ChangeCustomer,
        response: { 200: CustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'updateCustomer',
          summary: 'Updates a customer',
          description:
            'A new e-mail address is unverified, and links mailed before no longer work. If the customer has a password, the former address gets a notice. Customers never see `note` and `tags`. If nothing changes, nothing is sent. The response is 409 if another customer of the shop has the address, or if the personal data was erased.',
        },
      },
    )
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
        detail: {
          operationId: 'listCustomerOrderIds',
          summary: "Lists the ids of a customer's orders",
          description: 'Returns the ids of orders of every status, newest first.',
        },
      },
    )
    .post(
      '/customer/:customerId/addresses',
      ({ params, body, shop, actor, once }) =>
        once(201, (write) => createBookAddress(deps, { shop, actor, write }, params.customerId, body), {
          assertVisible: () => readCustomer(deps, shop, params.customerId),
        }),
      {
        access: 'management',
        idempotent: true,
        params: CustomerPath,
        body: BookAddressInput,
        response: { 201: AddressRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'replaceCustomerAddresses',
          summary: "Creates an address in a customer's address book",
          description: `An address book has at most ${addressesPerCustomerMax} addresses (409) and one default of each kind.`,
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
          operationId: 'addCustomerAddress',
          summary: "Adds an address of the shop to a customer's address book",
          description:
            'Returns the customer. If the address is in the book already, only the flags that you send change. The response is 409 if it is in another ' +
            `customer's book, or if the book has ${addressesPerCustomerMax} addresses.`,
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
          operationId: 'createAddress',
          summary: 'Creates an address that is in no address book',
          description: `The shop adds it to an address book with \`POST /customer/{customerId}/addresses/add\`. A customer can create at most ${addressesByCustomer.most} an hour.`,
        },
      },
    )
    .get('/addresses/:id', ({ params, shop, principal }) => readAddress(deps, shop, customerIdOf(principal), params.id), {
      access: 'addressRead',
      params: RecordId,
      response: { 200: AddressRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getAddress',
        summary: 'Returns an address',
        description:
          'A merchant and a secret key can read every address of the shop. A customer can read the addresses of the own book, and addresses that the customer entered, until they are in another book.',
      },
    })
