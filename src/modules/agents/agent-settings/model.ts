import { t } from 'elysia'
import { Instant, nullable, oneOf, text, Url } from '../../../http/schema.ts'
import { policiesMax, policyTypeForm } from './domain.ts'

const access = oneOf(['OPEN', 'SIGNED'], {
  description: '`SIGNED`: platforms sign every call by a key in their profile. `OPEN`: only reads of orders need that. Default: `SIGNED`',
})
const Policy = t.Object({ type: text(64, policyTypeForm), url: Url }, { title: 'AgentPolicy' })
const enabled = t.Boolean({ description: 'Whether agents find the shop and buy in it' })

export const SetAgentSettings = t.Object({
  enabled,
  access: t.Optional(access),
  policies: t.Optional(t.Array(Policy, { maxItems: policiesMax, description: 'Pages that agents show to shoppers: https URLs' })),
})

export const AgentKeyRecord = t.Object(
  {
    kid: t.String({ description: 'Thumbprint of the public key (RFC 7638)' }),
    createdAt: Instant,
    signsFrom: t.String({ format: 'date-time', description: 'Until then, the previous key signs' }),
    expiresAt: nullable(t.String({ format: 'date-time', description: 'When the profile drops the key' })),
  },
  { title: 'AgentKey' },
)

export const AgentSettingsRecord = t.Object(
  {
    enabled,
    access,
    policies: t.Array(Policy),
    profile: nullable(
      t.String({
        description:
          'Address of the profile by which platforms find the shop. Null: several shops have agents on, and this one has no verified host name',
      }),
    ),
    mcp: t.String({ description: 'Address for assistants that speak MCP' }),
    keys: t.Array(AgentKeyRecord, { description: 'Published keys, oldest first' }),
  },
  { title: 'AgentSettings' },
)
