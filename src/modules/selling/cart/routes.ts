import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, RecordId } from '../../../http/schema.ts'
import {
  addItem,
  applyGiftCard,
  type CartDeps,
  changeCart,
  changeDiscountCode,
  changeItem,
  createCart,
  readCart,
  removeGiftCards,
  removeItem,
  shippingOptions,
} from './index.ts'
import {
  AddItem,
  ApplyGiftCard,
  CartInput,
  CartRecord,
  ChangeDiscountCode,
  ChangeItem,
  LinePath,
  RemoveGiftCard,
  ShippingOptions,
} from './model.ts'

const ofChange = { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415) }

export const cartRoutes = (deps: HttpDeps & CartDeps) =>
  routes(deps, 'Carts')
    .post(
      '/cart',
      async ({ body, shop, principal, set }) => {
        set.status = 201
        return createCart(deps, { shop, principal }, body)
      },
      {
        access: 'cart',
        body: CartInput,
        response: { 201: CartRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          summary: 'Begin a cart',
          description:
            "Takes no `Idempotency-Key`: shoppers share the publishable key, and one could be handed another's cart. In the shop's currency; a customer's begins with their e-mail address. With a customer's token it is theirs, and nobody else but the shop's secret key reaches it; with a key it is a guest's, until a customer changes it. A cart expires 30 days after its last change.",
        },
      },
    )
    .get('/cart/:id', ({ params, shop, principal }) => readCart(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: RecordId,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409) },
      detail: {
        summary: 'A cart',
        description:
          'Prices are those that the shopper has seen; taxes and shipping are those of now. A cart that became an order shows its totals, whatever became of it, and like one that expired nothing of the person. `notices` say what the amounts do not: that the address is covered by no tax rate or no shipping method of a shop that has some. 409 when taxes or shipping raised the total beyond what can be stored.',
      },
    })
    .patch('/cart/:id', ({ params, body, shop, principal }) => changeCart(deps, { shop, principal }, params.id, body), {
      access: 'cart',
      params: RecordId,
      body: CartInput,
      response: ofChange,
      detail: {
        summary: 'Change a cart',
        description:
          'Fields that are left out stay as they are; null clears. A shipping method that is not offered to a new shipping address is taken off. 409 when the cart is not open.',
      },
    })
    .get('/cart/:id/shipping-options', ({ params, shop, principal }) => shippingOptions(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: RecordId,
      response: { 200: ShippingOptions, ...errorResponses(401, 403, 404, 409) },
      detail: {
        summary: 'How a cart may be sent',
        description:
          "The shop's methods that are offered for the cart's shipping address and what is in it, at their prices for it, in the shop's order; `code` is for `shippingMethod` of the cart. Before there is an address nothing is offered here, though a method may be put on the cart already. 409 when the cart is not open.",
      },
    })
    .post(
      '/cart/:id/items',
      ({ params, body, shop, principal, once }) =>
        once(201, (write) => addItem(deps, { shop, principal, write }, params.id, { variantId: body.variantId, quantity: body.quantity }), {
          anew: () => readCart(deps, { shop, principal }, params.id),
        }),
      {
        access: 'cart',
        idempotent: true,
        params: RecordId,
        body: AddItem,
        response: { 201: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          summary: 'Put a variant into a cart',
          description:
            'Of one that is there already, so many more. Nothing is reserved before checkout. 409 when less is in stock, which says how many are left; when the cart has 100 lines; and when it is not open.',
        },
      },
    )
    .patch(
      '/cart/:id/items/:lineId',
      ({ params, body, shop, principal }) => changeItem(deps, { shop, principal }, params.id, params.lineId, body.quantity),
      {
        access: 'cart',
        params: LinePath,
        body: ChangeItem,
        response: ofChange,
        detail: { summary: 'Change how many of a line are in a cart', description: 'At the price of now.' },
      },
    )
    .delete('/cart/:id/items/:lineId', ({ params, shop, principal }) => removeItem(deps, { shop, principal }, params.id, params.lineId), {
      access: 'cart',
      params: LinePath,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409) },
      detail: { summary: 'Take a line out of a cart' },
    })

export const cartDiscountRoutes = (deps: HttpDeps & CartDeps) =>
  routes(deps, 'Carts').patch(
    '/cart/:id/discount',
    ({ params, body: { code }, shop, principal, request }) =>
      changeDiscountCode(deps, { shop, principal }, params.id, { code, address: deps.limitKey(request) }),
    {
      access: 'cart',
      params: RecordId,
      body: ChangeDiscountCode,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
      detail: {
        summary: 'Put a discount code onto a cart',
        description:
          'In the place of any other; null takes it off. A code that cannot be had (unknown, disabled, not begun, ended, used up, or used by this customer as often as they may) is 404, whatever the cause. One that can is taken also where the cart is not enough for it or another discount takes off more: then `notices` says why, and it counts as soon as it does. Failed tries are limited as those of gift cards: 10 a minute for a cart and for a customer, 30 for an address (not with a secret key).',
      },
    },
  )

export const cartGiftCardRoutes = (deps: HttpDeps & CartDeps) =>
  routes(deps, 'Gift cards')
    .patch(
      '/giftcard/apply',
      ({ body, shop, principal, request }) => applyGiftCard(deps, { shop, principal }, body, deps.limitKey(request)),
      {
        access: 'shopper',
        body: ApplyGiftCard,
        response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 429) },
        detail: {
          summary: 'Put a gift card onto a cart',
          description:
            'Cards pay in the order in which they expire. A code that cannot be used is 404, whatever the cause. Failed tries are limited: 10 a minute for a cart and for a customer, 30 for an address (not with a secret key). A cart takes 10 cards; one that is on it already is no error.',
        },
      },
    )
    .patch('/giftcard/remove', ({ body, shop, principal }) => removeGiftCards(deps, { shop, principal }, body), {
      access: 'shopper',
      body: RemoveGiftCard,
      response: ofChange,
      detail: {
        summary: 'Take a gift card off a cart',
        description: 'Without a body, all cards off the latest open cart of the customer.',
      },
    })
