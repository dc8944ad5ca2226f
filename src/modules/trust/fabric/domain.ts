/** Who may attest what, and when: the rule by which attestations are counted. Times are milliseconds, `toAt` is excluded, null is without end. */
import type { attestations, attesterWallets, grants, trustCounts } from '../../../../db/schema/trust.ts'
import { digestOf } from '../../../lib/digest.ts'
import { type SchemaName, schemaNames } from '../../../lib/eas.ts'
import { withChecksum } from '../../../lib/evm.ts'
import { isoTimes } from '../../../lib/objects.ts'

export type Grant = typeof grants.$inferSelect
export type Wallet = typeof attesterWallets.$inferSelect
export type Owner = Wallet['owner']
export type Attestation = typeof attestations.$inferSelect
export type CountName = (typeof trustCounts.$inferSelect)['name']
export type Period = { fromAt: number; toAt: number | null }
/** Whoever has wallets. */
export type Holder =
  | { readonly owner: 'PLATFORM'; readonly ownerId: null }
  | { readonly owner: 'LENDER' | 'PROVIDER'; readonly ownerId: string }
export const platform: Holder = { owner: 'PLATFORM', ownerId: null }

/** Whose wallets may attest each schema. Of schema D nobody does of themselves. */
export const attestersOf: Readonly<Record<SchemaName, readonly Owner[]>> = {
  A: ['PLATFORM'],
  B: ['LENDER'],
  C: ['LENDER', 'PLATFORM'],
  D: ['PROVIDER'],
}

/** When the platform is active. */
export const always: readonly Period[] = [{ fromAt: Number.NEGATIVE_INFINITY, toAt: null }]

const endOf = ({ toAt }: Pick<Period, 'toAt'>) => toAt ?? Number.POSITIVE_INFINITY
const untilOf = (end: number) => (end === Number.POSITIVE_INFINITY ? null : end)
export const covers = (period: Period, at: number): boolean => period.fromAt <= at && at < endOf(period)
/** Whether some moment is in both. */
export const overlap = (one: Period, other: Period): boolean => one.fromAt < endOf(other) && other.fromAt < endOf(one)

/**
 * When a lender or provider was `ACTIVE`, by what they were from when on, in the order in which that was written. At a moment they were
 * what the last entry not after it says: so a clock that stepped back between two entries takes back what the older one had said.
 */
export function activeTimesOf(history: readonly { status: string; at: number }[]): Period[] {
  const times: Period[] = []
  let until = Number.POSITIVE_INFINITY
  for (const { status, at } of history.toReversed()) {
    if (at >= until) continue
    if (status === 'ACTIVE') times.push({ fromAt: at, toAt: untilOf(until) })
    until = at
  }
  return merged(times)
}

/** The same moments as periods in their order, of which no two overlap or touch. */
export function merged(periods: readonly Period[]): Period[] {
  const joined: Period[] = []
  for (const period of periods.filter((one) => one.fromAt < endOf(one)).toSorted((one, other) => one.fromAt - other.fromAt)) {
    const last = joined.at(-1)
    if (last && period.fromAt <= endOf(last)) last.toAt = untilOf(Math.max(endOf(last), endOf(period)))
    else joined.push({ fromAt: period.fromAt, toAt: period.toAt })
  }
  return joined
}

/** The first moment that is in one of them and not in the other; undefined where there is none. Each as `merged` makes them. */
export function firstDifference(one: readonly Period[], other: readonly Period[]): number | undefined {
  const edges = (periods: readonly Period[]) => new Set(periods.flatMap((period) => [period.fromAt, endOf(period)]))
  const different = edges(one).symmetricDifference(edges(other))
  return different.size === 0 ? undefined : Math.min(...different)
}

/** A wallet, and when whoever it belongs to was active. */
export type HeldWallet = Period & { owner: Owner; address: string; activeTimes: readonly Period[] }

/** For which schema each of these addresses counts, from when until when, sorted by address, schema and time. Needs all wallets of an address. */
export function grantsOf(wallets: readonly HeldWallet[]): Grant[] {
  const addresses = [...Map.groupBy(wallets, ({ address }) => address)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return addresses.flatMap(([address, held]) =>
    schemaNames.flatMap((schema) => {
      const times = held.filter(({ owner }) => attestersOf[schema].includes(owner)).flatMap(timesOf)
      return merged(times).map((period) => ({ address, schema, ...period }))
    }),
  )
}

/** When a wallet's period and the times in which its owner was active meet. */
const timesOf = (wallet: HeldWallet): Period[] =>
  wallet.activeTimes
    .filter((active) => overlap(active, wallet))
    .map((active) => ({
      fromAt: Math.max(active.fromAt, wallet.fromAt),
      toAt: untilOf(Math.min(endOf(active), endOf(wallet))),
    }))

/** Whether an address may attest a schema at a moment, by the grants of that address. */
export const isGranted = (ofAddress: readonly Pick<Grant, 'schema' | 'fromAt' | 'toAt'>[], schema: SchemaName, at: number): boolean =>
  ofAddress.some((grant) => grant.schema === schema && covers(grant, at))

/** Whether the statistics count an attestation, by the grants of its attester's address. Ones that have expired count. */
export const isCounted = (
  attestation: Pick<Attestation, 'schema' | 'isOfSelf' | 'revokedBlock' | 'blockAt'>,
  ofAttester: readonly Pick<Grant, 'schema' | 'fromAt' | 'toAt'>[],
): boolean =>
  attestation.revokedBlock === null &&
  !(attestation.schema === 'D' && attestation.isOfSelf) &&
  isGranted(ofAttester, attestation.schema, attestation.blockAt)

/** One grant as a line of what `registryHash` is of. */
export const grantLine = ({ address, schema, fromAt, toAt }: Grant): string => `${address} ${schema} ${fromAt} ${toAt ?? '-'}\n`

/**
 * SHA-256, in hex, of the UTF-8 text of all grants: a line each, `address schema from to`, with one space between and a line feed at its end;
 * address in lower case with 0x, times in milliseconds since 1970 UTC, `-` for no end; sorted by address, schema and `from`.
 */
export function registryHash(all: readonly Grant[]): string {
  const sorted = all.toSorted(
    (one, other) => compare(one.address, other.address) || compare(one.schema, other.schema) || one.fromAt - other.fromAt,
  )
  return digestOf(sorted.map(grantLine).join(''))
}
const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/** A wallet as it is told, of whomever it is. */
export const walletView = ({ address, fromAt, toAt }: Pick<Wallet, 'address' | 'fromAt' | 'toAt'>) => ({
  address: withChecksum(address),
  ...isoTimes({ from: fromAt, to: toAt }),
})
