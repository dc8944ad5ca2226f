/** Wallet fields and status transitions of the registries. */
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'

type Wallet = { readonly address: string; readonly from: string; readonly to: string | null }
/** `datetime-local` values in UTC. `was`: the stored wallet, whose timestamps are more precise. */
export type WalletRow = { readonly address: string; readonly from: string; readonly to: string; readonly was?: Wallet }
type WalletBody = { address: string; from?: string; to?: string | null }

/** Blocks are counted in UTC. */
const zone = 'UTC'

export const blankWallet: WalletRow = { address: '', from: '', to: '' }
export const walletRow = (was: Wallet): WalletRow => ({
  address: was.address,
  from: wallTimeText(was.from, zone),
  to: wallTimeText(was.to, zone),
  was,
})

/**
 * Parses a timestamp; an unchanged text keeps the stored one.
 * @throws Error with `said` if invalid
 */
function parseMoment(text: string, was: string | null | undefined, errorText: string): string | null {
  if (was !== undefined && text === wallTimeText(was, zone)) return was
  const moment = parseWallTime(text, zone)
  if (moment === undefined) throw new Error(errorText)
  return moment
}

/** @param said error text */
export function walletBody({ address, from, to, was }: WalletRow, errorText: string): WalletBody {
  const since = parseMoment(from, was?.from, errorText)
  return { address: address.trim(), ...(since === null ? {} : { from: since }), to: parseMoment(to, was?.to, errorText) }
}

/** Builds the wallets; drops empty rows. */
export const walletBodies = (rows: readonly WalletRow[], errorText: string): WalletBody[] =>
  rows.filter(({ address, from, to }) => `${address}${from}${to}`.trim() !== '').map((row) => walletBody(row, errorText))

/** The transitions to offer, as in the API's document. The API checks them. */
export const statusMoves = {
  lender: { PENDING_KYB: ['ACTIVE', 'ARCHIVED'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  provider: { PENDING_REVIEW: ['ACTIVE'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  methodology: { ACTIVE: ['SUPERSEDED', 'REVOKED'], SUPERSEDED: ['REVOKED'], REVOKED: [] },
} as const
export type Registry = keyof typeof statusMoves
export type StatusOf<Of extends Registry> = keyof (typeof statusMoves)[Of] & string

export const statusesOf = <Of extends Registry>(of: Of) => Object.keys(statusMoves[of]) as StatusOf<Of>[]
export const movesFrom = <Of extends Registry>(of: Of, status: StatusOf<Of>): readonly StatusOf<Of>[] =>
  (statusMoves[of] as unknown as Record<string, readonly StatusOf<Of>[]>)[status] ?? []

/** Statuses without a way back. */
const finalStatuses = new Set(['ARCHIVED', 'SUPERSEDED', 'REVOKED'])
export const isFinal = (status: string): boolean => finalStatuses.has(status)
