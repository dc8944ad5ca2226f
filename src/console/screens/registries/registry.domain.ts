/** What the registries of the trust fabric have in common: wallets as they are typed, and the moves of a status that are offered. */
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'

export type Wallet = { readonly address: string; readonly from: string; readonly to: string | null }
/** Moments as fields have them, by UTC. `was`: the wallet that it is of, whose moments are exacter than a field shows them. */
export type WalletRow = { readonly address: string; readonly from: string; readonly to: string; readonly was?: Wallet }
export type WalletBody = { address: string; from?: string; to?: string | null }

/** Blocks are counted by UTC, whatever clock somebody lives by. */
const zone = 'UTC'

export const noWallet: WalletRow = { address: '', from: '', to: '' }
export const walletRow = (was: Wallet): WalletRow => ({
  address: was.address,
  from: wallTimeText(was.from, zone),
  to: wallTimeText(was.to, zone),
  was,
})

/** What was typed as a moment; what was not touched stays exactly what it was. @throws Error with `said` where it is none */
function momentOf(text: string, was: string | null | undefined, said: string): string | null {
  if (was !== undefined && text === wallTimeText(was, zone)) return was
  const moment = parseWallTime(text, zone)
  if (moment === undefined) throw new Error(said)
  return moment
}

/** @param said what to say of a moment that is none */
export function walletBody({ address, from, to, was }: WalletRow, said: string): WalletBody {
  const since = momentOf(from, was?.from, said)
  return { address: address.trim(), ...(since === null ? {} : { from: since }), to: momentOf(to, was?.to, said) }
}

/** Rows in which nothing was typed are no wallets. */
export const walletBodies = (rows: readonly WalletRow[], said: string): WalletBody[] =>
  rows.filter(({ address, from, to }) => `${address}${from}${to}`.trim() !== '').map((row) => walletBody(row, said))

/** The moves that the API's document names for each: offered. What is done, souk decides. */
export const moves = {
  lender: { PENDING_KYB: ['ACTIVE', 'ARCHIVED'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  provider: { PENDING_REVIEW: ['ACTIVE'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  methodology: { ACTIVE: ['SUPERSEDED', 'REVOKED'], SUPERSEDED: ['REVOKED'], REVOKED: [] },
} as const
export type Registry = keyof typeof moves
export type StatusOf<Of extends Registry> = keyof (typeof moves)[Of] & string

export const movesFrom = <Of extends Registry>(of: Of, status: StatusOf<Of>): readonly StatusOf<Of>[] =>
  (moves[of] as unknown as Record<string, readonly StatusOf<Of>[]>)[status] ?? []

/** Nothing leads back from these. */
const ends = new Set(['ARCHIVED', 'SUPERSEDED', 'REVOKED'])
export const isEnd = (status: string): boolean => ends.has(status)
