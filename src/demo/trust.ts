/**
 * Trust data of the demo: wallets, methodologies, service providers with their messages, and attestations without a
 * chain.
 */
import { createHash } from 'node:crypto'
import type { Actor } from '../core/command-context.ts'
import { dayMs } from '../lib/day.ts'
import { schemaNames } from '../lib/eas.ts'
import { signedHeaders } from '../lib/standard-webhooks.ts'
import { changeLender, listLenders } from '../modules/lending/lender/index.ts'
import { attestersOf } from '../modules/trust/fabric/domain.ts'
import { createPlatformWallet, type DemoAttestation, insertDemoAttestations, listPlatformWallets } from '../modules/trust/fabric/index.ts'
import { listMethodologies, registerMethodology } from '../modules/trust/methodology/index.ts'
import { changeProvider, createProvider, ingest, listProviders, rotateSecret } from '../modules/trust/service-provider/index.ts'
import type { AppDeps } from '../providers.ts'
import { demoProviders } from './data.ts'
import { bytesOf, demoId, depsAt } from './past-clock.ts'

const slice = { page: 1, limit: 100, offset: 0 }
/**
 * Not the id of a real chain, so that demo attestations cannot be confused with real ones. They appear with any
 * configured chains.
 */
const demoChain = 0
const daysInTrust = 300
const addressOf = (name: string): string => `0x${bytesOf(`wallet ${name}`).subarray(0, 20).toString('hex')}`
const hashOf = (name: string): string => `0x${bytesOf(name).toString('hex')}`

/** Creates the missing trust data. The lenders must exist. */
export async function fillTrust(deps: AppDeps, actor: Actor, start: number): Promise<void> {
  const lenders = (await listLenders(deps, undefined, slice)).data
  const platformAddress = addressOf('platform')
  if ((await listPlatformWallets(deps, slice)).total === 0)
    await createPlatformWallet(depsAt(deps, start), { actor }, { address: platformAddress })
  for (const { id, displayName, wallets, status } of lenders) {
    const pastDeps = depsAt(deps, start + 3 * dayMs)
    if (wallets.length === 0) await changeLender(pastDeps, { actor }, id, { wallets: [{ address: addressOf(displayName) }] })
    if (status === 'ACTIVE') await registerVersions(deps, actor, { id, displayName }, start)
  }
  const existing = (await listProviders(deps, undefined, slice)).data
  for (const provider of demoProviders)
    await createDemoProvider(deps, actor, provider, { start, known: existing.some(({ displayName }) => displayName === provider.name) })
  await attest(deps, start)
}

/** Registers two versions of a lender's methodology. The second replaces the first. */
async function registerVersions(
  deps: AppDeps,
  actor: Actor,
  { id: lenderId, displayName }: { id: string; displayName: string },
  start: number,
): Promise<void> {
  const { total } = await listMethodologies(deps, { lenderId }, slice)
  for (let nth = total + 1; nth <= 2; nth++) {
    const version = `1.${nth}`
    const documentUrl = `https://lenders.example/${encodeURIComponent(displayName.toLowerCase().replaceAll(' ', '-'))}/methodology-${version}.pdf`
    const draft = { lenderId, version, contentHash: hashOf(`methodology ${displayName} ${version}`), documentUrl }
    await registerMethodology(depsAt(deps, start + nth * 60 * dayMs), { actor }, draft)
  }
}

/** Registers and activates a service provider, and receives its signed messages as if it had sent them. */
async function createDemoProvider(
  deps: AppDeps,
  actor: Actor,
  { name: displayName, archetype, isActive, messages }: (typeof demoProviders)[number],
  { start, known }: { start: number; known: boolean },
): Promise<void> {
  const id = demoId('serviceProvider', 0, displayName)
  const pastDeps = depsAt(deps, start + 5 * dayMs, { serviceProvider: id })
  const wallets = [{ address: addressOf(displayName) }]
  const created = known ? undefined : await createProvider(pastDeps, { actor }, { displayName, archetype, wallets })
  pastDeps.clock.to(start + 6 * dayMs)
  if (!isActive) return
  const { successfulIngestionCount: sent } = await changeProvider(pastDeps, { actor }, id, { status: 'ACTIVE' })
  if (sent >= messages) return
  const secret = created?.webhookSecret ?? (await rotateSecret(pastDeps, { actor }, id)).webhookSecret
  for (let nth = sent; nth < messages; nth++) {
    pastDeps.clock.to(start + (7 + Math.floor((nth * daysInTrust) / messages)) * dayMs)
    const body = JSON.stringify({ kind: 'parcel.delivered', sequence: nth + 1 })
    const signed = signedHeaders(secret, { id: `demo-${nth + 1}`, timestamp: Math.floor(pastDeps.clock.now() / 1_000), body })
    const headers = {
      id: signed['webhook-id'] ?? null,
      timestamp: signed['webhook-timestamp'] ?? null,
      signature: signed['webhook-signature'] ?? null,
    }
    await ingest(pastDeps, { providerId: id, headers, body: Buffer.from(body) }, () => undefined)
  }
}

/**
 * Stores attestations of each wallet at regular intervals. Those before the activation of a lender or provider do not
 * count.
 */
async function attest(deps: AppDeps, start: number): Promise<void> {
  const { data: lenders } = await listLenders(deps, undefined, slice)
  const { data: providers } = await listProviders(deps, undefined, slice)
  const attesters = [
    { owner: 'PLATFORM' as const, name: 'platform' },
    ...lenders.map(({ displayName: name }) => ({ owner: 'LENDER' as const, name })),
    ...providers.map(({ displayName: name }) => ({ owner: 'PROVIDER' as const, name })),
  ]
  const created = attesters.flatMap(({ owner, name }) =>
    schemaNames
      .filter((schema) => attestersOf[schema].includes(owner))
      .flatMap((schema) =>
        Array.from({ length: 12 }, (_, nth): DemoAttestation => {
          const at = start + (10 + nth * 24) * dayMs
          const uid = `0x${createHash('sha256').update(`souk demo: ${schema} ${name} ${nth}`).digest('hex')}`
          const blockAt = at - (at % 1_000)
          return {
            chainId: demoChain,
            uid,
            schema,
            attester: addressOf(name),
            isOfSelf: false,
            blockNumber: 1 + Math.floor((blockAt - start) / 12_000),
            blockAt,
          }
        }),
      ),
  )
  await insertDemoAttestations(deps, created)
}
