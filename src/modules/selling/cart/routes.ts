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
          operationId: 'createCart',
          summary: 'Creates a cart',
          description:
            "The cart is in the shop's currency. A cart created with a customer's token belongs to the customer, has the customer's e-mail address, and can be used by that customer and the shop's secret key only. A cart created with a key is a guest's until a customer changes it. A cart expires 30 days after its last change. `Idempotency-Key` has no effect, because shoppers share the publishable key.",
        },
      },
    )
    .get('/cart/:id', ({ params, shop, principal }) => readCart(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: RecordId,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409) },
      detail: {
        operationId: 'getCart',
        summary: 'Returns a cart',
        description:
          'Prices are those that were last shown to the shopper; taxes and shipping are current. `notices` says if no tax rate or no shipping method of the shop covers the address. A cart that became an order keeps its totals; like an expired cart, it has no personal data. The response is 409 if taxes or shipping raise the total above the maximum amount.',
      },
    })
    .patch('/cart/:id', ({ params, body, shop, principal }) => changeCart(deps, { shop, principal }, params.id, body), {
      access: 'cart',
      params: RecordId,
      body: CartInput,
      response: ofChange,
      detail: {
        operationId: 'updateCart',
        summary: 'Updates a cart',
        description:
          'Fields that you leave out keep their values; null clears. If the shipping method is not offered for a new address, it is removed. The response is 409 if the cart is not open.',
      },
    })
    .get('/cart/:id/shipping-options', ({ params, shop, principal }) => shippingOptions(deps, { shop, principal }, params.id), {
      access: 'cart',
      params: RecordId,
      response: { 200: ShippingOptions, ...errorResponses(401, 403, 404, 409) },
      detail: {
        operationId: 'listShippingOptions',
        summary: 'Lists the shipping options of a cart',
        description:
          "Returns the shipping methods that are offered for the cart's address and contents, with their prices, in the shop's order. Set `shippingMethod` of the cart to the `code` of one. Without an address the list is empty, though the cart accepts a method already. The response is 409 if the cart is not open.",
      },
    })
    .post(
      '/cart/:id/items',
      ({ params, body, shop, principal, once }) =>
        once(201, (write) => addItem(deps, { shop, principal, write }, params.id, { variantId: body.variantId, quantity: body.quantity }), {
          recompute: () => readCart(deps, { shop, principal }, params.id),
        }),
      {
        access: 'cart',
        idempotent: true,
        params: RecordId,
        body: AddItem,
        response: { 201: CartRecord, ...errorResponses(401, 403, 404, 409, 413, 415, 422) },
        detail: {
          operationId: 'addCartItem',
          summary: 'Adds a variant to a cart',
          description:
            'If the cart contains the variant, the quantity is added. Stock is reserved only at checkout. The response is 409 if the stock is too low (the message says how many are left), if the cart has 100 lines, or if it is not open.',
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
        detail: {
          operationId: 'updateCartItem',
          summary: 'Updates the quantity of a line',
          description: 'The line gets the current price.',
        },
      },
    )
    .delete('/cart/:id/items/:lineId', ({ params, shop, principal }) => removeItem(deps, { shop, principal }, params.id, params.lineId), {
      access: 'cart',
      params: LinePath,
      response: { 200: CartRecord, ...errorResponses(401, 403, 404, 409) },
      detail: { operationId: 'removeCartItem', summary: 'Removes a line from a cart' },
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
        operationId: 'updateCartDiscount',
        summary: 'Sets the discount code of a cart',
        description:
          'Replaces the previous code; null removes it. The response is 404 if the code cannot be used: unknown, disabled, not started, ended, used up, or used as often as this customer may. A valid code is also accepted if the cart does not qualify for it, or if another discount is higher. `notices` then says why, and the discount applies once the cart qualifies. Failed attempts are limited to 10 a minute for a cart and for a customer, and 30 for a client address (not with a secret key).',
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
          operationId: 'applyGiftCard',
          summary: 'Applies a gift card to a cart',
          description:
            'Gift cards are used in the order of their expiry. The response is 404 if the code cannot be used, for whatever reason. Failed attempts are limited to 10 a minute for a cart and for a customer, and 30 for a client address (not with a secret key). A cart accepts 10 gift cards. Applying the same card twice is not an error.',
        },
      },
    )
    .patch('/giftcard/remove', ({ body, shop, principal }) => removeGiftCards(deps, { shop, principal }, body), {
      access: 'shopper',
      body: RemoveGiftCard,
      response: ofChange,
      detail: {
        operationId: 'removeGiftCard',
        summary: 'Removes a gift card from a cart',
        description: "Without a body, removes all gift cards from the customer's latest open cart.",
      },
    })
