import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  addressesPerCustomerMax,
  changeOwnAddress,
  changeOwnCustomer,
  createBookAddress,
  listOwnAddresses,
  readCustomer,
  removeOwnAddress,
} from '../customer/index.ts'
import {
  Addresses,
  AddressRecord,
  BookAddressInput,
  ChangeBookAddress,
  ChangeOwnCustomer,
  CustomerRecord,
  VerifyToken,
} from '../customer/model.ts'
import { verifyByAddress, verifyByCustomer } from './domain.ts'
import { type CustomerAccountDeps, listOwnOrders, sendVerification, verifyOwnAddress } from './index.ts'
import { OwnOrders } from './model.ts'

/** Lets customers manage their own data. */
export const customerAccountRoutes = (deps: HttpDeps & CustomerAccountDeps) =>
  routes(deps, 'Customers')
    .get('/customer/me', ({ shop, principal }) => readCustomer(deps, shop, principal.id), {
      access: 'customer',
      response: { 200: CustomerRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: "A customer's own account" },
    })
    .patch('/customer/me', ({ body, shop, actor, request }) => changeOwnCustomer(deps, { shop, actor }, body, deps.limitKey(request)), {
      access: 'customer',
      body: ChangeOwnCustomer,
      response: { 200: CustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
      detail: {
        summary: "Change one's own account",
        description:
          'Fields that are left out stay. Another `email` needs `password`, the present one: a wrong one is 401 and counts like a failed login. The new address is unproven (`emailVerified`) until it is verified, and what was mailed to the one before is of no use any more; sessions go on, and a mail tells the old address of it. One that the shop has is 409, as at signup, and tries count like signups.',
      },
    })
    .get('/customer/me/orders', ({ query, shop, principal }) => listOwnOrders(deps, shop, principal.id, sliceOf(query)), {
      access: 'customer',
      query: t.Object(pageQuery),
      response: { 200: OwnOrders, ...errorResponses(401, 403, 404) },
      detail: {
        summary: "A customer's own orders",
        description:
          'Newest first, whatever became of them, without the reasons of refunds and cancellations. What was bought as a guest is among them once the address is proven: what is bought so afterwards joins at the next login.',
      },
    })
    .get('/customer/me/addresses', ({ query, principal }) => listOwnAddresses(deps, principal.id, sliceOf(query)), {
      access: 'customer',
      query: t.Object(pageQuery),
      response: { 200: Addresses, ...errorResponses(401, 403, 404) },
      detail: { summary: "A customer's own address book", description: 'Oldest first.' },
    })
    .post(
      '/customer/me/addresses',
      ({ body, shop, actor, principal, once }) =>
        once(201, (write) => createBookAddress(deps, { shop, actor, write }, principal.id, body), {
          sees: () => readCustomer(deps, shop, principal.id),
        }),
      {
        access: 'customer',
        idempotent: true,
        body: BookAddressInput,
        response: { 201: AddressRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          summary: "Make an address in one's own book",
          description: `A book has at most ${addressesPerCustomerMax} addresses (409), and one default of each kind: one that takes it, another loses it.`,
        },
      },
    )
    .patch('/customer/me/addresses/:id', ({ params, body, shop, actor }) => changeOwnAddress(deps, { shop, actor }, params.id, body), {
      access: 'customer',
      params: RecordId,
      body: ChangeBookAddress,
      response: { 200: AddressRecord, ...errorResponses(401, 403, 404, 413, 415, 429) },
      detail: {
        summary: "Change an address of one's own book",
        description:
          'Fields that are left out stay. A default that it takes, another of the book loses; orders keep what they were sent to.',
      },
    })
    .delete(
      '/customer/me/addresses/:id',
      async ({ params, shop, actor, set }) => {
        await removeOwnAddress(deps, { shop, actor }, params.id)
        set.status = 204
      },
      {
        access: 'customer',
        params: RecordId,
        response: { 204: t.Void({ description: 'It is gone' }), ...errorResponses(401, 403, 404, 429) },
        detail: {
          summary: "Take an address out of one's own book",
          description: 'Of a default none follows: nobody chose one.',
        },
      },
    )
    .post(
      '/customer/verify/send',
      async ({ shop, actor, request, set }) => {
        await sendVerification(deps, { shopId: shop.id, actor }, deps.limitKey(request))
        set.status = 204
      },
      {
        access: 'customer',
        response: { 204: t.Void({ description: 'A mail is on its way' }), ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          summary: "Have a mail sent that proves one's address",
          description: `Its link is good once, for a day; it leads to the page that the shop names (\`pages.verify\`), else to souk's own, which asks for the password. Nothing is sent where the address is proven already, and where there is no mail server. At most ${verifyByCustomer.most} an hour for an account and to an address, and ${verifyByAddress.most} from an address (429). No mail is sent at signup by itself: a storefront asks for it here.`,
        },
      },
    )
    .post(
      '/customer/verify',
      async ({ body: { token }, shop, actor, request, set }) => {
        await verifyOwnAddress(deps, { shopId: shop.id, actor }, token, deps.limitKey(request))
        set.status = 204
      },
      {
        access: 'customer',
        body: VerifyToken,
        response: { 204: t.Void({ description: 'The address is proven' }), ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          summary: "Prove one's address by the token of a mail",
          description:
            "The token of another account, one that was used, is older than a day, or went to an address that the account does not have any more: 404, one for every cause. What was bought in this shop with the address as a guest is the customer's from then on, and counts in their numbers; so it is after a new password by mail, which proves the address too.",
        },
      },
    )
