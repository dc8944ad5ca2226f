/** The wallets of the platform's verifiers. */
import type { Writer } from '../../../../db/engine.ts'
import { type CommandContext, withLocks } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import { assertVersion } from '../../../core/versions.ts'
import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Page, type PageSlice, pageOf } from '../../../lib/page.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { platform, type Wallet, walletView } from './domain.ts'
import type { TrustDeps } from './providers.ts'
import { changeWallets } from './registry.ts'
import { assertForward, parseMoment, parseWallet, parseWalletAddress, type WalletBody } from './wallets.ts'

type WriteContext = Pick<CommandContext, 'actor' | 'expected' | 'write'>

const noSuchWallet = () => new AppError('NOT_FOUND', 'No such platform wallet')
const differenceIn = (before: Wallet | undefined, after: Wallet) =>
  differenceOf(before && walletView(before), walletView(after), ['address', 'from', 'to'])

const view = (wallet: Wallet) => ({
  id: wallet.id,
  ...walletView(wallet),
  ...isoTimes(pick(wallet, 'createdAt', 'updatedAt')),
  version: wallet.version,
})
type PlatformWalletView = ReturnType<typeof view>

/**
 * Registers a wallet of the platform, by default from now on.
 * @throws AppError INVALID, with the field; CONFLICT if another wallet of that address exists at that time
 */
export function createPlatformWallet(deps: TrustDeps, context: WriteContext, body: WalletBody): Promise<PlatformWalletView> {
  const now = deps.clock.now()
  const id = deps.newId('wallet')
  const wallet = { id, ...platform, ...parseWallet(body, now), createdAt: now, updatedAt: now, version: 1 }
  return audited(deps, withLocks(deps, context), { action: 'platform_wallet.created', subject: id }, async (tx, setDifference) => {
    await changeWallets(tx, deps, { before: [], after: [wallet], pathOf: () => 'address' })
    setDifference(differenceIn(undefined, wallet))
    return view(wallet)
  })
}

/**
 * Changes a wallet of the platform. Omitted fields stay; a null `to` removes the end.
 * @throws AppError NOT_FOUND, PRECONDITION_FAILED; INVALID, with the field; CONFLICT as for a new one
 */
export function changePlatformWallet(
  deps: TrustDeps,
  context: WriteContext,
  id: string,
  body: Partial<WalletBody>,
): Promise<PlatformWalletView> {
  const { trustStore: store, clock } = deps
  const work = async (tx: Writer, setDifference: (difference: ReturnType<typeof differenceIn>) => void) => {
    // Locks the registry before the read, so that concurrent changes run one after the other.
    await store.raise(tx)
    const before = await store.findWallet(id, tx)
    if (before?.owner !== 'PLATFORM') throw noSuchWallet()
    assertVersion(context.expected, before.version)
    const after = { ...before, ...fields }
    assertForward(after, 'to')
    if (after.address === before.address && after.fromAt === before.fromAt && after.toAt === before.toAt) return view(before)
    const changed = { ...after, updatedAt: clock.now(), version: before.version + 1 }
    await changeWallets(tx, deps, { before: [before], after: [changed], pathOf: () => 'address' })
    setDifference(differenceIn(before, changed))
    return view(changed)
  }
  const { address, from, to } = body
  const fields = {
    ...(address === undefined ? {} : { address: parseWalletAddress(address, 'address') }),
    ...(from === undefined || from === null ? {} : { fromAt: parseMoment(from, 'from') }),
    ...(to === undefined ? {} : { toAt: to === null ? null : parseMoment(to, 'to') }),
  }
  return audited(deps, withLocks(deps, context), { action: 'platform_wallet.changed', subject: id }, work)
}

/** @throws AppError NOT_FOUND */
export async function readPlatformWallet({ trustStore }: Pick<TrustDeps, 'trustStore'>, id: string): Promise<PlatformWalletView> {
  const wallet = await trustStore.findWallet(id)
  if (wallet?.owner !== 'PLATFORM') throw noSuchWallet()
  return view(wallet)
}

/** Lists platform wallets, newest first. */
export async function listPlatformWallets(
  { trustStore }: Pick<TrustDeps, 'trustStore'>,
  slice: PageSlice,
): Promise<Page<PlatformWalletView>> {
  const { rows, total } = await trustStore.listPlatformWallets(slice)
  return pageOf(rows.map(view), total, slice)
}
