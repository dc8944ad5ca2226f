import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { CustomerPath } from '../customer/model.ts'
import { type ErasureDeps, eraseCustomer } from './index.ts'
import { ErasedCustomer } from './model.ts'

export const erasureRoutes = (deps: HttpDeps & ErasureDeps) =>
  routes(deps, 'Customers').post(
    '/customer/:customerId/erase',
    ({ params, shop, actor }) => eraseCustomer(deps, { shop, actor }, params.customerId),
    {
      access: 'management',
      params: CustomerPath,
      response: { 200: ErasedCustomer, ...errorResponses(401, 403, 404, 409, 413, 415) },
      detail: {
        operationId: 'eraseCustomer',
        summary: 'Erases the personal data of a customer',
        description: `Names, e-mail addresses, phone numbers, streets, towns, postal codes, notes, reasons and tracking numbers are overwritten or deleted everywhere: in the account, the address book, carts, the account's orders, sessions, unsent e-mails and messages, and stored responses. Numbers, dates, lines, amounts, tax, country and province remain for the shop's accounts. E-mail addresses of the remaining records end in \`@erased.invalid\`.

Guest orders of the shop with the same e-mail address are erased too, whether or not the address was verified. To erase a guest who has no account, create one with \`POST /customer\`, then call this route.

The response is 409 while the customer has an order that is \`PENDING_PAYMENT\`, \`PAID\`, \`CONFIRMED\` or \`COMPENSATING\`, or an open payment, refund or dispute; the message says which. Fulfilled orders can be erased, and still be refunded. A second call returns the same response with 200. The address can sign up again as a new customer. A \`customer.erased\` message with the id is sent to the shop's webhook endpoints. Erasure cannot be undone: a database that is restored from a backup erases the customer again before it serves requests.`,
      },
    },
  )
