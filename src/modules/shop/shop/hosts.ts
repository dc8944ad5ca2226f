/** Host names of storefronts, proven by DNS records. */
import type { Writer } from '../../../../db/engine.ts'
import { type Actor, type CommandContext, system } from '../../../core/command-context.ts'
import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import type { TxtAnswer } from '../../../core/outgoing.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { inBatches } from '../../../lib/batches.ts'
import { dayMs } from '../../../lib/day.ts'
import { isReservedHost, normalizeHost, storefrontHostOf } from '../../../lib/host-names.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { inParallel } from '../../../lib/parallel.ts'
import { audit, audited } from '../../operations/audit/index.ts'
import { hostMissingMaxMs, hostsPerShopMax, isOpen, matchesProof, proofName, proofPrefix, type Shop, type ShopHost } from './domain.ts'
import type { ShopDeps } from './providers.ts'
import { findPublicShopByName, noSuchShop } from './service.ts'

type HostDeps = Pick<ShopDeps, 'hostStore'>

const proofBytes = 24
const checkBatchSize = 100
const parallelChecks = 8
/** Time until the next check after a DNS failure, instead of a day. */
const recheckAfterFailureMs = 60 * 60 * 1000

const noSuchHost = () => new AppError('NOT_FOUND', 'The shop has no such host name')

/** Lists the host names of a shop, oldest first. */
export async function listHosts({ hostStore }: HostDeps, shop: Pick<Shop, 'id'>, slice: PageSlice): Promise<Page<ShopHost>> {
  const { rows, total } = await hostStore.list(shop.id, slice)
  return pageOf(rows, total, slice)
}

/**
 * Adds a host name to a shop, with the DNS record to create.
 * @throws AppError INVALID for an unusable name; CONFLICT if the shop has it, or at the limit
 */
export function addHost(deps: ShopDeps, by: CommandContext, text: string): Promise<ShopHost> {
  const host = parseStorefrontHost(deps, text)
  const shopId = by.shop.id
  const proof = `${proofPrefix}${Buffer.from(deps.randomBytes(proofBytes)).toString('base64url')}`
  return audited(deps, by, { action: 'shop.host_added', subject: shopId }, async (tx, setDifference) => {
    if (await deps.hostStore.find(shopId, host, tx))
      throw fieldError('CONFLICT', 'host', 'the shop already has this host name', { code: 'already_exists' })
    if ((await deps.hostStore.count(tx, shopId)) >= hostsPerShopMax)
      throw new AppError('CONFLICT', `A shop has at most ${hostsPerShopMax} host names. Remove one first`, { code: 'limit_reached' })
    const now = deps.clock.now()
    const row = { shopId, host, proof, createdAt: now, verifiedAt: null, checkedAt: null, missingSince: null, version: 1 }
    await deps.hostStore.insert(tx, row)
    setDifference({ after: { host } })
    return row
  })
}

/** @throws AppError INVALID */
function parseStorefrontHost({ config }: Pick<ShopDeps, 'config'>, text: string): string {
  const host = normalizeHost(text)
  if (host === undefined) throw invalidField('host', 'must be a host name such as shop.example.com, without port, path and trailing dot')
  if (isReservedHost(host)) throw invalidField('host', 'must be a public DNS name')
  if (config.publicUrl !== undefined && host === normalizeHost(new URL(config.publicUrl).hostname))
    throw invalidField('host', 'must not be the name of this service')
  return host
}

/** Finds the shop's host name in any spelling. @throws AppError NOT_FOUND */
async function findHost({ hostStore }: HostDeps, shopId: string, text: string, tx?: Writer): Promise<ShopHost> {
  const host = storefrontHostOf(text)
  const row = host === undefined ? undefined : await hostStore.find(shopId, host, tx)
  if (!row) throw noSuchHost()
  return row
}

/** @throws AppError NOT_FOUND, PRECONDITION_FAILED */
export function removeHost(deps: ShopDeps, by: CommandContext, text: string): Promise<void> {
  const shopId = by.shop.id
  return audited(deps, by, { action: 'shop.host_removed', subject: shopId }, async (tx, setDifference) => {
    const row = await findHost(deps, shopId, text, tx)
    assertVersion(by.expected, row.version)
    assertNotStale((await deps.hostStore.remove(tx, row)) || undefined)
    setDifference({ before: { host: row.host, verified: row.verifiedAt !== null } })
  })
}

const dnsFailureTexts: Readonly<Record<Extract<TxtAnswer, { failure: string }>['failure'], (name: string) => string>> = {
  absent: (name) =>
    `No TXT record was found at ${name}. Add the record at your DNS provider; it can take an hour to appear. Then try again`,
  failed: (name) => `The DNS lookup of ${name} failed (SERVFAIL or a similar error). Check the DNS zone, then try again`,
  late: () => 'The DNS lookup timed out. Try again',
}

/**
 * Checks the proof in the DNS and marks the host name as verified. Another shop that has it verified loses it, unless
 * its proof is there too.
 * @throws AppError NOT_FOUND; CONFLICT with what the DNS answered
 */
export async function verifyHost(deps: ShopDeps, by: CommandContext, text: string): Promise<ShopHost> {
  const shopId = by.shop.id
  const { host, proof } = await findHost(deps, shopId, text)
  const answer = await deps.lookUpTxt(proofName(host))
  if ('failure' in answer) throw new AppError('CONFLICT', dnsFailureTexts[answer.failure](proofName(host)), { code: 'host_not_verified' })
  const { strings } = answer
  if (!matchesProof(strings, proof))
    throw new AppError('CONFLICT', `No TXT record at ${proofName(host)} has the value ${proof}. Correct the record, then try again`, {
      code: 'host_not_verified',
    })
  return audited(deps, by, { action: 'shop.host_verified', subject: shopId }, async (tx, setDifference) => {
    const before = await findHost(deps, shopId, host, tx)
    // It was removed and added again, with another proof.
    if (before.proof !== proof)
      throw new AppError('CONFLICT', 'The host name was removed and added again, so its TXT value changed. Read it again')
    const holder = await deps.hostStore.findVerified(host, tx)
    if (holder && holder.shopId !== shopId) {
      if (matchesProof(strings, holder.proof))
        throw new AppError(
          'CONFLICT',
          'Another shop has verified this host name, and its TXT record is still in the DNS. Remove that record first',
          { code: 'host_not_verified' },
        )
      assertNotStale(await endVerification(tx, deps, holder, by.actor))
    }
    const now = deps.clock.now()
    const isNew = before.verifiedAt === null
    const change = { verifiedAt: before.verifiedAt ?? now, checkedAt: now, missingSince: null, version: before.version + Number(isNew) }
    const row = assertNotStale(await deps.hostStore.update(tx, before, change))
    setDifference({ before: { host, verified: !isNew }, after: { host, verified: true } })
    return row
  })
}

/** Ends a verification inside a write. */
async function endVerification(tx: Writer, deps: ShopDeps, row: ShopHost, actor: Actor): Promise<ShopHost | undefined> {
  const lost = await deps.hostStore.update(tx, row, { verifiedAt: null, checkedAt: null, missingSince: null, version: row.version + 1 })
  const { shopId, host } = row
  const difference = { before: { host, verified: true }, after: { host, verified: false } }
  if (lost) await audit(tx, deps, { actor, action: 'shop.host_lost', subject: shopId, shopId, ...difference })
  return lost
}

/**
 * Checks all verified host names once a day. One without a DNS proof for seven days is lost; failures of the name
 * server do not count.
 */
export async function recheckHosts(deps: ShopDeps): Promise<void> {
  const before = deps.clock.now() - dayMs
  await inBatches(checkBatchSize, async () => {
    const due = await deps.hostStore.toCheck(before, checkBatchSize)
    await inParallel(due, parallelChecks, (row) => recheck(deps, row))
    return due.length
  })
}

async function recheck(deps: ShopDeps, row: ShopHost): Promise<void> {
  const answer = await deps.lookUpTxt(proofName(row.host))
  const now = deps.clock.now()
  const isUnknown = 'failure' in answer && (answer.failure === 'failed' || answer.failure === 'late')
  const isThere = 'strings' in answer && matchesProof(answer.strings, row.proof)
  const missingSince = isThere ? null : (row.missingSince ?? (isUnknown ? null : now))
  const isLost = !isThere && !isUnknown && missingSince !== null && now - missingSince >= hostMissingMaxMs
  // Ignored if the row changed meanwhile.
  await deps.db.write(async (tx) => {
    if (isLost) await endVerification(tx, deps, row, system)
    else await deps.hostStore.update(tx, row, { checkedAt: isUnknown ? now - dayMs + recheckAfterFailureMs : now, missingSince })
  })
  if (isLost) deps.log.warn('host.lost', { shopId: row.shopId, host: row.host })
}

/**
 * Finds a shop by handle or verified host name; handles contain no dot.
 * @throws AppError NOT_FOUND, also for a suspended one
 */
export async function findPublicShop(deps: Pick<ShopDeps, 'shopStore' | 'hostStore'>, shopUrl: string): Promise<Shop> {
  if (!shopUrl.includes('.')) return findPublicShopByName(deps, shopUrl)
  const host = storefrontHostOf(shopUrl)
  const shop = host === undefined ? undefined : await deps.hostStore.shopOf(host)
  if (!shop || !isOpen(shop)) throw noSuchShop()
  return shop
}

/** Finds the shop with a verified host name, suspended or not. @param host without a port */
export async function findShopByHost({ hostStore }: HostDeps, host: string): Promise<{ name: string; host: string } | undefined> {
  const normal = storefrontHostOf(host)
  const shop = normal === undefined ? undefined : await hostStore.shopOf(normal)
  return shop && normal !== undefined ? { name: shop.name, host: normal } : undefined
}

/** Normalises a shop address for caching. */
export const shopCacheKey = (shopUrl: string): string => (shopUrl.includes('.') ? (storefrontHostOf(shopUrl) ?? shopUrl) : shopUrl)
