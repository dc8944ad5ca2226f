import { invalidField } from '../../../core/errors.ts'
import { readAddress } from '../../../lib/evm.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { overlap, type Period } from './domain.ts'

/** A validated wallet. The address is in lower case. */
export type WalletDraft = Period & { readonly address: string }
/** A wallet in a request body. */
export type WalletBody = { address: string; from?: string | null | undefined; to?: string | null | undefined }

const invalid = (name: string, rule: string) => invalidField(name, `must ${rule}`)

/** @throws AppError INVALID, with the field */
export function parseWalletAddress(text: string, name: string): string {
  const read = readAddress(text)
  if ('wrong' in read) throw invalid(name, read.wrong)
  return read.address
}

/** @throws AppError INVALID, with the field */
export function parseMoment(text: string, name: string): number {
  const time = parseInstant(text)
  if (Number.isNaN(time)) throw invalid(name, 'be a valid time')
  if (time < 0) throw invalid(name, 'not be before 1970')
  return time
}

/** @throws AppError INVALID */
export function assertForward({ fromAt, toAt }: Period, name: string): void {
  if (toAt !== null && toAt <= fromAt) throw invalid(name, 'be after `from`, which defaults to now')
}

/**
 * Validates a wallet. `from` defaults to `now`, `to` to no end.
 * @param path the path of the wallet in the body, before the field names
 * @throws AppError INVALID, with the field
 */
export function parseWallet({ address, from, to }: WalletBody, now: number, path = ''): WalletDraft {
  const period = {
    fromAt: from === undefined || from === null ? now : parseMoment(from, `${path}from`),
    toAt: to === undefined || to === null ? null : parseMoment(to, `${path}to`),
  }
  const draft = { address: parseWalletAddress(address, `${path}address`), ...period }
  assertForward(period, `${path}to`)
  return draft
}

/**
 * Validates the wallets of an owner.
 * @throws AppError INVALID, with the field, also if two of an address overlap
 */
export function parseWallets(bodies: readonly WalletBody[], now: number): WalletDraft[] {
  const drafts = bodies.map((body, nth) => parseWallet(body, now, `wallets.${nth}.`))
  const byAddress = Map.groupBy(drafts.entries(), ([, { address }]) => address)
  for (const same of byAddress.values()) {
    const sorted = same.toSorted(([, one], [, other]) => one.fromAt - other.fromAt)
    for (const [index, [nth, draft]] of sorted.entries()) {
      const next = sorted[index + 1]
      if (next && overlap(draft, next[1]))
        throw invalidField(`wallets.${Math.max(nth, next[0])}`, 'overlaps with another period of the same address in the list')
    }
  }
  return drafts
}
