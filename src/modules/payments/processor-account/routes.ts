import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { listAccounts, type ProcessorAccountDeps, putAccount, readAccount, removeAccount } from './index.ts'
import { AccountParam, AccountQuery, ProcessorAccount, ProcessorAccounts, PutProcessorAccount } from './model.ts'

const path = '/shops/v2/processor-accounts/:processor'

export const processorAccountRoutes = (deps: HttpDeps & ProcessorAccountDeps) =>
  routes(deps, 'Payment methods')
    .get('/shops/v2/processor-accounts', ({ shop }) => listAccounts(deps, shop), {
      access: 'owner',
      response: { 200: ProcessorAccounts, ...errorResponses(401, 403, 404) },
      detail: {
        summary: 'The processors, and what an account with each is made of',
        description:
          'Every processor that a shop may have an account of its own with: the fields that `PUT` takes, and the accounts that the shop has, by the names of what was given and no value of it. `instance` says in which modes payments go through an account of the instance where the shop has none.',
      },
    })
    .get(path, ({ params, query, shop }) => readAccount(deps, shop, params.processor, query.mode), {
      access: 'owner',
      versioned: true,
      params: AccountParam,
      query: AccountQuery,
      response: { 200: ProcessorAccount, ...errorResponses(401, 403, 404) },
      detail: {
        summary: "The shop's own account with a processor",
        description:
          'By the names of what was given, and no value of it. 404 where there is none: then payments go through the account of the instance, if it has one of the mode of the shop.',
      },
    })
    .put(path, ({ params, body, shop, actor, expected }) => putAccount(deps, { shop, actor, expected }, params.processor, body), {
      access: 'owner',
      largeJson: true,
      versioned: true,
      params: AccountParam,
      body: PutProcessorAccount,
      response: { 200: ProcessorAccount, ...errorResponses(401, 403, 404, 413, 415, 429) },
      detail: {
        summary: "Replace the shop's own account with a processor",
        description:
          'As a whole, under the names of the settings of that processor. The processor is asked whether it knows the keys before anything is kept: 400 where it does not, 503 where it does not answer, and nothing was changed. What is secret is sealed and never answered. The mode is the one that the keys say, else the host; of `paypal`, `qpay` and `btcpay` it is `mode`, by default that of the shop. A shop has one account of each mode with a processor: in mode `TEST` it may put one of real money before it goes live, in mode `LIVE` none of test money. Payments keep the account that took them; the same account with other keys (by its publishable part, or of `btcpay` by server and store) goes on with those. At most ten an hour.',
      },
    })
    .delete(
      path,
      async ({ params, query, shop, actor, expected, set }) => {
        await removeAccount(deps, { shop, actor, expected }, params.processor, query.mode)
        set.status = 204
      },
      {
        access: 'owner',
        versioned: true,
        params: AccountParam,
        query: AccountQuery,
        response: { 204: t.Void({ description: 'No new payment goes through it' }), ...errorResponses(401, 403, 404) },
        detail: {
          summary: "Take the shop's own account with a processor away",
          description: 'Payments that were taken through it keep it: they are refunded and heard of as before.',
        },
      },
    )
