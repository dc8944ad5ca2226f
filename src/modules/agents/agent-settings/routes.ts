import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { type AgentSettingsDeps, readAgentSettings, rotateAgentKey, setAgentSettings } from './index.ts'
import { AgentKeyRecord, AgentSettingsRecord, SetAgentSettings } from './model.ts'

export const agentSettingsRoutes = (deps: HttpDeps & AgentSettingsDeps) => {
  const access = { by: 'ownerManagement', while: () => deps.config.agentsEnabled } as const
  return routes(deps, 'Agents')
    .get('/shops/v2/agents', ({ shop }) => readAgentSettings(deps, shop), {
      access,
      versioned: true,
      response: { 200: AgentSettingsRecord, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'getAgentSettings',
        summary: 'Returns the settings for shopping by agents',
        description: '404 while the operator has not set `AGENTS_ENABLED`.',
      },
    })
    .put(
      '/shops/v2/agents',
      ({ shop, actor, expected, body: { enabled, access: by = 'SIGNED', policies = [] } }) =>
        setAgentSettings(deps, { shop, actor, expected }, { enabled, access: by, policies }),
      {
        access,
        largeJson: true,
        versioned: true,
        body: SetAgentSettings,
        response: { 200: AgentSettingsRecord, ...errorResponses(401, 403, 404, 413, 415) },
        detail: {
          operationId: 'replaceAgentSettings',
          summary: 'Replaces the settings for shopping by agents',
          description: 'Settings that you leave out return to their defaults. With agents off, all routes of the shop for agents are 404.',
        },
      },
    )
    .post('/shops/v2/agents/keys/rotate', ({ shop, actor, once }) => once(200, (write) => rotateAgentKey(deps, { shop, actor, write })), {
      access,
      idempotent: true,
      response: { 200: AgentKeyRecord, ...errorResponses(401, 403, 404, 409, 422) },
      detail: {
        operationId: 'rotateAgentKey',
        summary: 'Rotates the key that signs messages to platforms',
        description:
          'The profile lists the new key at once; it signs ten minutes later. The previous key stays listed for seven days. At most ten keys are listed (409).',
      },
    })
}
