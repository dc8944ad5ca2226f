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
        summary: 'Erase the personal data of a customer',
        description: `Names, e-mail addresses, phone numbers, streets, towns, postal codes, notes, reasons and tracking numbers are overwritten or removed wherever they are kept: in the account, the address book, carts, orders whoever placed them with this account, sessions, mails and messages that wait, and kept answers. Numbers, dates, lines, amounts, tax, the country and the province stay, as the shop's books need them; \`email\` of what stays ends in \`@erased.invalid\`.

What was bought in the shop as a guest with the same e-mail address is erased too, whether the address was proven or not. A guest who never had an account is erased so: \`POST /customer\` with their address, then this.

409 while an order of theirs is \`PENDING_PAYMENT\`, \`PAID\`, \`CONFIRMED\` or being compensated, or a payment, a refund or a dispute is open: the message says which. One that was sent may be erased; it can still be refunded. A second time is 200 with the same answer. The address may sign up again, as somebody new. A \`customer.erased\` message with the id alone goes to the shop's webhook endpoints. There is no way back; a database that is restored from a backup has them erased again before it is served.`,
      },
    },
  )
