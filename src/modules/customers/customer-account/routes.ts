import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  addressesPerCustomerMax,
  changeOwnAddress,
  changeOwnCustomer,
  createBookAddress,
  listOwnAddresses,
  readOwnCustomer,
  removeOwnAddress,
} from '../customer/index.ts'
import {
  Addresses,
  AddressRecord,
  BookAddressInput,
  ChangeBookAddress,
  ChangeOwnCustomer,
  OwnCustomerRecord,
  VerifyToken,
} from '../customer/model.ts'
import { verifyByAddress, verifyByCustomer } from './domain.ts'
import { type CustomerAccountDeps, listOwnOrders, sendVerification, verifyOwnAddress } from './index.ts'
import { OwnOrders } from './model.ts'

/** Lets customers manage their own data. */
export const customerAccountRoutes = (deps: HttpDeps & CustomerAccountDeps) =>
  routes(deps, 'Customers')
    .get('/customer/me', ({ shop, principal }) => readOwnCustomer(deps, shop, principal.id), {
      access: 'customer',
      response: { 200: OwnCustomerRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getOwnCustomer', summary: "Returns the caller's account" },
    })
    .patch('/customer/me', ({ body, shop, actor, request }) => changeOwnCustomer(deps, { shop, actor }, body, deps.limitKey(request)), {
      access: 'customer',
      body: ChangeOwnCustomer,
      response: { 200: OwnCustomerRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
      detail: {
        operationId: 'updateOwnCustomer',
        summary: "Updates the caller's account",
        description:
          'Fields that you leave out keep their values. To change `email`, send the current `password`; a wrong password is 401 and counts as a failed login. The new address is unverified (`emailVerified`) until the customer verifies it, and links sent to the old address stop working. Sessions continue, and the old address is notified. The response is 409 if another account of the shop has the address; such attempts count as sign-ups.',
      },
    })
    .get('/customer/me/orders', ({ query, shop, principal }) => listOwnOrders(deps, shop, principal.id, sliceOf(query)), {
      access: 'customer',
      query: t.Object(pageQuery),
      response: { 200: OwnOrders, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listOwnOrders',
        summary: "Lists the caller's orders",
        description:
          'Returns orders of every status, newest first, without the reasons of refunds and cancellations. Guest orders are included once the e-mail address is verified; later guest orders are added at the next login.',
      },
    })
    .get('/customer/me/addresses', ({ query, principal }) => listOwnAddresses(deps, principal.id, sliceOf(query)), {
      access: 'customer',
      query: t.Object(pageQuery),
      response: { 200: Addresses, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'listOwnAddresses', summary: "Lists the caller's addresses", description: 'Returns addresses, oldest first.' },
    })
    .post(
      '/customer/me/addresses',
      ({ body, shop, actor, principal, once }) =>
        once(201, (write) => createBookAddress(deps, { shop, actor, write }, principal.id, body), {
          assertVisible: () => readOwnCustomer(deps, shop, principal.id),
        }),
      {
        access: 'customer',
        idempotent: true,
        body: BookAddressInput,
        response: { 201: AddressRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          operationId: 'createOwnAddress',
          summary: "Creates an address in the caller's address book",
          description: `An address book has at most ${addressesPerCustomerMax} addresses (409) and one default of each kind. A new default replaces the previous one.`,
        },
      },
    )
    .patch('/customer/me/addresses/:id', ({ params, body, shop, actor }) => changeOwnAddress(deps, { shop, actor }, params.id, body), {
      access: 'customer',
      params: RecordId,
      body: ChangeBookAddress,
      response: { 200: AddressRecord, ...errorResponses(401, 403, 404, 413, 415, 429) },
      detail: {
        operationId: 'updateOwnAddress',
        summary: 'Updates an address of the caller',
        description:
          'Fields that you leave out keep their values. A new default replaces the previous one. Existing orders keep their addresses.',
      },
    })
    .delete(
      '/customer/me/addresses/:id',
      ({ params, shop, actor, set }) => noContent(set, removeOwnAddress(deps, { shop, actor }, params.id)),
      {
        access: 'customer',
        params: RecordId,
        response: { 204: t.Void({ description: 'The address was deleted' }), ...errorResponses(401, 403, 404, 429) },
        detail: {
          operationId: 'deleteOwnAddress',
          summary: 'Deletes an address of the caller',
          description: 'If it was a default, no other address becomes the default.',
        },
      },
    )
    .post(
      '/customer/verify/send',
      ({ shop, actor, request, set }) => noContent(set, sendVerification(deps, { shopId: shop.id, actor }, deps.limitKey(request))),
      {
        access: 'customer',
        response: { 204: t.Void({ description: 'The e-mail was sent' }), ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          operationId: 'sendVerificationEmail',
          summary: "Sends an e-mail that verifies the caller's address",
          description: `The link works once, within one day. It opens the shop's page (\`pages.verify\`) or, by default, a page of souk that asks for the password. Nothing is sent if the address is verified already or if there is no mail server. A sign-up sends no e-mail, so a storefront calls this route. Limits: ${verifyByCustomer.most} an hour for an account or recipient, and ${verifyByAddress.most} from a client address (429).`,
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
        response: { 204: t.Void({ description: 'The address is verified' }), ...errorResponses(401, 403, 404, 413, 415, 429) },
        detail: {
          operationId: 'verifyEmail',
          summary: "Verifies the caller's e-mail address",
          description:
            "Accepts the token from the e-mail. The response is 404 if the token belongs to another account, was used, is older than one day, or was sent to an address that the account no longer has. From then on, guest orders of this shop with the address belong to the customer and count in the customer's totals. A password reset by e-mail also verifies the address.",
        },
      },
    )
