/**
 * Who may attest what, and when: the rule that decides which attestations count. Times are milliseconds; `toAt` is
 * excluded, null means no end.
 */
import type { attestations, attesterWallets, grants, trustCounts } from '../../../../db/schema/trust.ts'
import { type SchemaName, schemaNames } from '../../../lib/eas.ts'
import { withChecksum } from '../../../lib/evm.ts'
import { isoTimes } from '../../../lib/objects.ts'
import { sha256 } from '../../../lib/seal.ts'

export type Grant = typeof grants.$inferSelect
export type Wallet = typeof attesterWallets.$inferSelect
export type Owner = Wallet['owner']
export type Attestation = typeof attestations.$inferSelect
export type CountName = (typeof trustCounts.$inferSelect)['name']
export type Period = { fromAt: number; toAt: number | null }
/** The owner of wallets. */
export type Holder =
  | { readonly owner: 'PLATFORM'; readonly ownerId: null }
  | { readonly owner: 'LENDER' | 'PROVIDER'; readonly ownerId: string }
export const platform: Holder = { owner: 'PLATFORM', ownerId: null }

/** Whose wallets may attest each schema. A provider's schema D about itself does not count. */
export const attestersOf: Readonly<Record<SchemaName, readonly Owner[]>> = {
  A: ['PLATFORM'],
  B: ['LENDER'],
  C: ['LENDER', 'PLATFORM'],
  D: ['PROVIDER'],
}

export const alwaysActive: readonly Period[] = [{ fromAt: Number.NEGATIVE_INFINITY, toAt: null }]

const endOf = ({ toAt }: Pick<Period, 'toAt'>) => toAt ?? Number.POSITIVE_INFINITY
const untilOf = (end: number) => (end === Number.POSITIVE_INFINITY ? null : end)
/** Returns whether a period contains a moment. `toAt` itself is outside. */
export const covers = (period: Period, at: number): boolean => period.fromAt <= at && at < endOf(period)
/** Returns whether two periods share a moment. Periods that only touch do not. */
export const overlap = (a: Period, b: Period): boolean => a.fromAt < endOf(b) && b.fromAt < endOf(a)

/**
 * Computes when a lender or provider was `ACTIVE` from its history, in the order of writing.
 * The last entry not after a moment decides. If the clock stepped back between two entries, the later entry overrides
 * the earlier one.
 */
export function activeTimesOf(history: readonly { status: string; at: number }[]): Period[] {
  const times: Period[] = []
  let until = Number.POSITIVE_INFINITY
  for (const { status, at } of history.toReversed()) {
    if (at >= until) continue
    if (status === 'ACTIVE') times.push({ fromAt: at, toAt: untilOf(until) })
    until = at
  }
  return mergePeriods(times)
}

/** Merges periods into sorted ones that neither overlap nor touch. */
export function mergePeriods(periods: readonly Period[]): Period[] {
  const joined: Period[] = []
  for (const period of periods.filter((one) => one.fromAt < endOf(one)).toSorted((one, other) => one.fromAt - other.fromAt)) {
    const last = joined.at(-1)
    if (last && period.fromAt <= endOf(last)) last.toAt = untilOf(Math.max(endOf(last), endOf(period)))
    else joined.push({ fromAt: period.fromAt, toAt: period.toAt })
  }
  return joined
}

/** Returns the first moment that is in only one of the lists; undefined if they are equal. Both must be merged. */
export function firstDifference(a: readonly Period[], b: readonly Period[]): number | undefined {
  const edges = (periods: readonly Period[]) => new Set(periods.flatMap((period) => [period.fromAt, endOf(period)]))
  const different = edges(a).symmetricDifference(edges(b))
  return different.size === 0 ? undefined : Math.min(...different)
}

/** A wallet and the times when its owner was active. */
export type OwnedWallet = Period & { owner: Owner; address: string; activeTimes: readonly Period[] }

/** Computes the grants of addresses, sorted by address, schema and time. Needs all wallets of an address. */
export function grantsOf(wallets: readonly OwnedWallet[]): Grant[] {
  const addresses = [...Map.groupBy(wallets, ({ address }) => address)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return addresses.flatMap(([address, owned]) =>
    schemaNames.flatMap((schema) => {
      const times = owned.filter(({ owner }) => attestersOf[schema].includes(owner)).flatMap(timesOf)
      return mergePeriods(times).map((period) => ({ address, schema, ...period }))
    }),
  )
}

/** Intersects the wallet's period with the active times of its owner. */
const timesOf = (wallet: OwnedWallet): Period[] =>
  wallet.activeTimes
    .filter((active) => overlap(active, wallet))
    .map((active) => ({
      fromAt: Math.max(active.fromAt, wallet.fromAt),
      toAt: untilOf(Math.min(endOf(active), endOf(wallet))),
    }))

/** Returns whether an address may attest a schema at a moment. */
export const isGranted = (ofAddress: readonly Pick<Grant, 'schema' | 'fromAt' | 'toAt'>[], schema: SchemaName, at: number): boolean =>
  ofAddress.some((grant) => grant.schema === schema && covers(grant, at))

/** Returns whether an attestation counts. Expired attestations count. */
export const isCounted = (
  attestation: Pick<Attestation, 'schema' | 'isOfSelf' | 'revokedBlock' | 'blockAt'>,
  ofAttester: readonly Pick<Grant, 'schema' | 'fromAt' | 'toAt'>[],
): boolean =>
  attestation.revokedBlock === null &&
  !(attestation.schema === 'D' && attestation.isOfSelf) &&
  isGranted(ofAttester, attestation.schema, attestation.blockAt)

/** Formats a grant as a line of the text that `registryHash` hashes. */
export const grantLine = ({ address, schema, fromAt, toAt }: Grant): string => `${address} ${schema} ${fromAt} ${toAt ?? '-'}\n`

/**
 * Hashes the registry: SHA-256, in hex, of the UTF-8 text of all grants.
 * Each grant is a line `address schema from to` with single spaces and a line feed. Addresses are in lower case with
 * 0x, times in milliseconds since 1970 UTC, `-` for no end; lines are sorted by address, schema and `from`.
 */
export function registryHash(grants: readonly Grant[]): string {
  const sorted = grants.toSorted((a, b) => compare(a.address, b.address) || compare(a.schema, b.schema) || a.fromAt - b.fromAt)
  return sha256(sorted.map(grantLine).join(''))
}
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Renders a wallet as the API shows it. */
export const walletView = ({ address, fromAt, toAt }: Pick<Wallet, 'address' | 'fromAt' | 'toAt'>) => ({
  address: withChecksum(address),
  ...isoTimes({ from: fromAt, to: toAt }),
})
