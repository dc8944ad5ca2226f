import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { listAccounts, type ProcessorAccountDeps, putAccount, readAccount, removeAccount, testConnection } from './index.ts'
import { AccountParam, AccountQuery, ConnectionTest, ProcessorAccount, ProcessorAccounts, PutProcessorAccount } from './model.ts'

const path = '/shops/v2/processor-accounts/:processor'

export const processorAccountRoutes = (deps: HttpDeps & ProcessorAccountDeps) =>
  routes(deps, 'Payment methods')
    .get('/shops/v2/processor-accounts', ({ shop }) => listAccounts(deps, shop), {
      access: 'owner',
      response: { 200: ProcessorAccounts, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listProcessorAccounts',
        summary: "Lists payment processors and the shop's accounts",
        description:
          "Returns each processor for which a shop can have its own account, with the fields that `PUT` accepts, and the shop's accounts with the names of the fields that are set. `instance` lists the modes in which the instance's account is used if the shop has none.",
      },
    })
    .get(path, ({ params, query, shop }) => readAccount(deps, shop, params.processor, query.mode), {
      access: 'owner',
      versioned: true,
      params: AccountParam,
      query: AccountQuery,
      response: { 200: ProcessorAccount, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getProcessorAccount',
        summary: "Returns the shop's account with a processor",
        description:
          "Returns the names of the fields that are set, without values. The response is 404 if the shop has no account; payments then use the instance's account, if it has one for the shop's mode.",
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
        operationId: 'replaceProcessorAccount',
        summary: "Replaces the shop's account with a processor",
        description: `Send all fields of the account, named as in the list of processors. souk checks the keys with the processor first: the response is 400 if it rejects them and 503 if it does not respond, and nothing is changed. Secret values are stored encrypted and never returned. The keys or the host determine the mode; for \`paypal\`, \`qpay\` and \`btcpay\`, \`mode\` does, by default the shop's.

A shop has one account for each mode with a processor. In mode \`TEST\` it can add an account for real money before it goes live; in mode \`LIVE\` it cannot add one for test money. Payments keep the account that took them. If you replace the keys of the same account (the same publishable part or, for \`btcpay\`, the same server and store), existing payments use the new keys. At most ten calls an hour.`,
      },
    })
    .post(`${path}/test`, ({ params, body, shop }) => testConnection(deps, shop, params.processor, body), {
      access: 'owner',
      params: AccountParam,
      body: PutProcessorAccount,
      response: { 200: ConnectionTest, ...errorResponses(401, 403, 404, 413, 415, 429) },
      detail: {
        operationId: 'testProcessorAccount',
        summary: 'Tests the connection to a processor',
        description:
          "Calls the processor once and stores nothing. Send the fields of an account, as for `PUT`, to test them before you save. Without fields, souk tests the account that new payments of `mode` use: the shop's own, otherwise the instance's. The response is 404 if there is none. At most twenty calls an hour.",
      },
    })
    .delete(
      path,
      ({ params, query, shop, actor, expected, set }) =>
        noContent(set, removeAccount(deps, { shop, actor, expected }, params.processor, query.mode)),
      {
        access: 'owner',
        versioned: true,
        params: AccountParam,
        query: AccountQuery,
        response: { 204: t.Void({ description: 'The account was deleted. New payments do not use it' }), ...errorResponses(401, 403, 404) },
        detail: {
          operationId: 'deleteProcessorAccount',
          summary: "Deletes the shop's account with a processor",
          description: 'Payments that were made through it keep it: refunds and messages still work.',
        },
      },
    )
