import type { TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { platformHeaders, ucpErrorResponse } from '../../../http/platform-errors.ts'
import { routes } from '../../../http/routes.ts'
import { ErrorBody } from '../../../http/schema.ts'
import { agentShopOf, bodyOf, idempotencyKeyOf, limitAddress, loggedUcpError, platformOf, runOperation } from './dispatch.ts'
import { jsonOf } from './domain.ts'
import { answerMcp } from './mcp.ts'
import { RpcAnswer, RpcCall, UcpErrorBody } from './model.ts'
import { type AgentApiDeps, type AgentOperation, operations } from './operations.ts'

async function respond(deps: AgentApiDeps, operation: AgentOperation, request: Request, { shopName, id }: Params): Promise<Response> {
  const shop = await agentShopOf(deps, shopName)
  await limitAddress(deps, request)
  const platform = await platformOf(deps, shop, operation, request)
  const answer = await runOperation(deps, operation, {
    ...{ shop, platform, address: deps.limitKey(request), id },
    body: request.method === 'GET' ? {} : bodyOf(request),
    key: operation.key === 'never' ? undefined : idempotencyKeyOf(request.headers.get('idempotency-key'), undefined),
    isKeyRequired: operation.key !== 'never',
  })
  const isCreated = operation.creates === true && 'id' in answer
  return new Response(jsonOf(answer), { status: isCreated ? 201 : 200, headers: platformHeaders })
}
type Params = { readonly shopName: string; readonly id?: string }

export function agentRestRoutes(deps: AgentApiDeps) {
  const app = routes(deps, 'Agents')
  for (const operation of operations)
    app.route(
      operation.method,
      `/ucp/:shopName${operation.path}`,
      async ({ request, params }) => {
        try {
          return (await respond(deps, operation, request, params as Params)) as never
        } catch (error) {
          // Its response is that of an unknown path.
          if (error instanceof AppError && error.kind === 'NOT_FOUND') throw error
          return ucpErrorResponse(loggedUcpError(deps, request, error)) as never
        }
      },
      optionsOf(deps, operation) as object,
    )
  return app
}

const statusesOf = (schema: TSchema, ...statuses: readonly number[]) => Object.fromEntries(statuses.map((status) => [status, schema]))

function optionsOf({ config }: AgentApiDeps, { tool, title, description, path, method, input, output, key, creates }: AgentOperation) {
  const keyed = {
    name: 'idempotency-key',
    in: 'header',
    required: true,
    description: 'A UUID. The effect happens once per key; a retry gets the first answer for 24 hours.',
    schema: { type: 'string', format: 'uuid' },
  }
  const agent = {
    name: 'ucp-agent',
    in: 'header',
    required: true,
    description: 'Names the profile of the platform: `profile="https://…"` (RFC 9651).',
    schema: { type: 'string' },
  }
  return {
    access: { by: 'platform', while: () => config.agentsEnabled },
    anyQuery: true,
    params: t.Object({ shopName: t.String(), ...(path.includes(':id') ? { id: t.String() } : {}) }),
    response: { [creates ? 201 : 200]: output, ...statusesOf(UcpErrorBody, 400, 401, 403, 409, 422, 424, 429, 503), 404: ErrorBody },
    detail: {
      operationId: `${tool.replace('lookup', 'look_up').replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}ForAgent`,
      summary: title,
      description: `${description} The response is 200 also without a resource; then \`messages\` say why.`,
      parameters: [agent, ...(key === 'never' ? [] : [keyed])],
      ...(method === 'GET' || !input ? {} : { requestBody: { content: { 'application/json': { schema: input } } } }),
    },
  }
}

export const agentMcpRoutes = (deps: AgentApiDeps) =>
  routes(deps, 'Agents').post(
    '/ucp/:shopName/mcp',
    async ({ request, params }) => (await answerMcp(deps, request, params.shopName)) as never,
    {
      access: { by: 'platform', while: () => deps.config.agentsEnabled },
      anyQuery: true,
      params: t.Object({ shopName: t.String() }),
      response: {
        ...statusesOf(RpcAnswer, 200, 400, 401, 403, 406, 409, 415, 422, 424, 429, 503),
        202: t.Void({ description: 'A notification was accepted.' }),
        // ErrorBody: the shop does not exist. RpcAnswer: the method does not exist.
        404: t.Union([ErrorBody, RpcAnswer]),
      },
      detail: {
        operationId: 'callToolsForAgent',
        summary: 'Answers agents over MCP',
        description:
          'The Model Context Protocol, stateless and as JSON: JSON-RPC 2.0 with `initialize`, `server/discover`, `ping`, `tools/list` and `tools/call`. Each operation is a tool. Errors of the protocol are JSON-RPC errors with the HTTP status that they have over REST. GET and DELETE are 405.',
        requestBody: { content: { 'application/json': { schema: RpcCall } } } as never,
      },
    },
  )
