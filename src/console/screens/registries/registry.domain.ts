/** Wallet fields and status transitions of the registries. */
import { parseWallTime, wallTimeText } from '../../lib/format/zoned-time.ts'

type Wallet = { readonly address: string; readonly from: string; readonly to: string | null }
/** `datetime-local` values in UTC. `stored`: the stored wallet, whose timestamps are more precise. */
export type WalletRow = { readonly address: string; readonly from: string; readonly to: string; readonly stored?: Wallet }
type WalletBody = { address: string; from?: string; to?: string | null }

/** Blocks are counted in UTC. */
const zone = 'UTC'

export const blankWallet: WalletRow = { address: '', from: '', to: '' }
/** Returns the form's values of a stored wallet. */
export const walletRow = (stored: Wallet): WalletRow => ({
  address: stored.address,
  from: wallTimeText(stored.from, zone),
  to: wallTimeText(stored.to, zone),
  stored,
})

/**
 * Parses a timestamp; an unchanged text keeps the stored one.
 * @throws Error with `errorText` if invalid
 */
function parseMoment(text: string, stored: string | null | undefined, errorText: string): string | null {
  if (stored !== undefined && text === wallTimeText(stored, zone)) return stored
  const moment = parseWallTime(text, zone)
  if (moment === undefined) throw new Error(errorText)
  return moment
}

/**
 * Builds the body of a wallet.
 * @param errorText text of the error for an invalid time
 */
export function walletBody({ address, from, to, stored }: WalletRow, errorText: string): WalletBody {
  const since = parseMoment(from, stored?.from, errorText)
  return { address: address.trim(), ...(since === null ? {} : { from: since }), to: parseMoment(to, stored?.to, errorText) }
}

/** Builds the wallets; drops empty rows. */
export const walletBodies = (rows: readonly WalletRow[], errorText: string): WalletBody[] =>
  rows.filter(({ address, from, to }) => `${address}${from}${to}`.trim() !== '').map((row) => walletBody(row, errorText))

/** Builds the wallets of a change; empty if they are as stored. */
export const walletsChange = (rows: readonly WalletRow[], stored: readonly Wallet[], errorText: string): { wallets?: WalletBody[] } =>
  JSON.stringify(rows) === JSON.stringify(stored.map(walletRow)) ? {} : { wallets: walletBodies(rows, errorText) }

/** Returns wallets in one line, for conflicts. */
export const walletsText = (wallets: readonly { readonly address: string }[]): string => wallets.map(({ address }) => address).join(' ')

/** The transitions to offer, as in the API's document. The API checks them. */
export const statusMoves = {
  lender: { PENDING_KYB: ['ACTIVE', 'ARCHIVED'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  provider: { PENDING_REVIEW: ['ACTIVE'], ACTIVE: ['SUSPENDED'], SUSPENDED: ['ACTIVE', 'ARCHIVED'], ARCHIVED: [] },
  methodology: { ACTIVE: ['SUPERSEDED', 'REVOKED'], SUPERSEDED: ['REVOKED'], REVOKED: [] },
} as const
export type Registry = keyof typeof statusMoves
export type StatusOf<Of extends Registry> = keyof (typeof statusMoves)[Of] & string

/** Lists the statuses of a registry, in the order of `statusMoves`. */
export const statusesOf = <Of extends Registry>(registry: Of) => Object.keys(statusMoves[registry]) as StatusOf<Of>[]
/** Returns the statuses to offer; none for a status that this program does not know. */
export const movesFrom = <Of extends Registry>(registry: Of, status: StatusOf<Of>): readonly StatusOf<Of>[] =>
  (statusMoves[registry] as unknown as Record<string, readonly StatusOf<Of>[]>)[status] ?? []

/** Statuses without a way back. */
const finalStatuses = new Set(['ARCHIVED', 'SUPERSEDED', 'REVOKED'])
/** Returns whether a status has no way back, so that the dialog warns. */
export const isFinal = (status: string): boolean => finalStatuses.has(status)
