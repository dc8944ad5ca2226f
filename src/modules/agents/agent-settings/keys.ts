/** Keys with which shops sign messages to platforms. */
import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { newSigningKey, openSigningKey, type SigningKey } from '../../../lib/ucp/signing-key.ts'
import { audited } from '../../operations/audit/index.ts'
import {
  type AgentKey,
  type AgentKeyView,
  agentKeySeal,
  agentKeyView,
  keyLeadMs,
  keyRetentionMs,
  publishedAt,
  publishedKeysMax,
  signingAt,
} from './domain.ts'
import type { AgentSettingsDeps } from './providers.ts'

/** Adds a key inside a write. @param signsFrom milliseconds */
export async function addKey(tx: Writer, deps: AgentSettingsDeps, shopId: string, signsFrom: number): Promise<AgentKey> {
  const { kid, publicKey, privateKey } = newSigningKey(deps.randomBytes)
  const sealed = deps.keyring.seal(privateKey, agentKeySeal(shopId, kid))
  const row = { kid, shopId, publicKey, privateKey: sealed, createdAt: deps.clock.now(), signsFrom, expiresAt: null }
  await deps.agentSettingsStore.insertKey(tx, row)
  return row
}

/**
 * Publishes a new key, which signs ten minutes later. The other one stays published for seven days.
 * @throws AppError CONFLICT for a shop without keys, and at the limit of published keys
 */
export function rotateAgentKey(deps: AgentSettingsDeps, by: CommandContext): Promise<AgentKeyView> {
  const shopId = by.shop.id
  return audited(deps, by, { action: 'shop.agent_key_rotated', subject: shopId }, async (tx, setDifference) => {
    const store = deps.agentSettingsStore
    const now = deps.clock.now()
    const keys = publishedAt(await store.keysOf(shopId, tx), now)
    if (keys.length === 0) throw new AppError('CONFLICT', 'The shop has no keys yet. Switch agents on first')
    if (keys.length >= publishedKeysMax)
      throw new AppError('CONFLICT', `A shop has at most ${publishedKeysMax} keys. Wait until one expires`, { code: 'limit_reached' })
    await store.removeExpiredKeys(tx, shopId, now)
    for (const { kid, expiresAt } of keys) if (expiresAt === null) await store.expireKey(tx, kid, now + keyRetentionMs)
    const added = await addKey(tx, deps, shopId, now + keyLeadMs)
    setDifference({ after: { kid: added.kid } })
    return agentKeyView(added)
  })
}

/** Returns the keys of the profile, oldest first. */
export const publishedKeysOf = async ({ agentSettingsStore, clock }: AgentSettingsDeps, shopId: string): Promise<AgentKey[]> =>
  publishedAt(await agentSettingsStore.keysOf(shopId), clock.now())

/** Returns the key that signs now; undefined for a shop that never switched agents on. */
export async function signingKeyOf(deps: AgentSettingsDeps, shopId: string): Promise<SigningKey | undefined> {
  const { agentSettingsStore, clock, keyring } = deps
  const key = signingAt(await agentSettingsStore.keysOf(shopId), clock.now())
  return key && { kid: key.kid, privateKey: openSigningKey(keyring.unseal(key.privateKey, agentKeySeal(shopId, key.kid))) }
}
