import { AppError } from '../../../core/errors.ts'
import { readAddress } from '../../../lib/evm.ts'
import { parseInstant } from '../../../lib/instant.ts'
import { overlap, type Period } from './domain.ts'

/** A wallet as it is asked for: the address in lower case. */
export type WalletDraft = Period & { readonly address: string }
/** As the body of a request has it. */
export type WalletBody = { address: string; from?: string | null | undefined; to?: string | null | undefined }

const invalid = (name: string, rule: string) => new AppError('INVALID', `${name} (body): must ${rule}`)

/** @throws AppError INVALID, naming the field */
export function addressFrom(text: string, name: string): string {
  const read = readAddress(text)
  if ('wrong' in read) throw invalid(name, read.wrong)
  return read.address
}

/** @throws AppError INVALID, naming the field */
export function momentFrom(text: string, name: string): number {
  const at = parseInstant(text)
  if (Number.isNaN(at)) throw invalid(name, 'be a time that there is')
  if (at < 0) throw invalid(name, 'not be before 1970')
  return at
}

/** @throws AppError INVALID */
export function assertForward({ fromAt, toAt }: Period, name: string): void {
  if (toAt !== null && toAt <= fromAt) throw invalid(name, 'be after `from`, which is now when it is left out')
}

/**
 * Reads a wallet; without `from` it begins at `now`, without `to` it has no end.
 * @param path of the wallet in the body, before the names of its fields
 * @throws AppError INVALID, naming the field
 */
export function walletFrom({ address, from, to }: WalletBody, now: number, path = ''): WalletDraft {
  const period = {
    fromAt: from === undefined || from === null ? now : momentFrom(from, `${path}from`),
    toAt: to === undefined || to === null ? null : momentFrom(to, `${path}to`),
  }
  const draft = { address: addressFrom(address, `${path}address`), ...period }
  assertForward(period, `${path}to`)
  return draft
}

/**
 * Reads the wallets of a lender or service provider.
 * @throws AppError INVALID, naming the field, also where two of an address cover the same moment
 */
export function walletsFrom(bodies: readonly WalletBody[], now: number): WalletDraft[] {
  const drafts = bodies.map((body, nth) => walletFrom(body, now, `wallets.${nth}.`))
  const seen = Map.groupBy(drafts.entries(), ([, { address }]) => address)
  for (const same of seen.values()) {
    const sorted = same.toSorted(([, one], [, other]) => one.fromAt - other.fromAt)
    for (const [index, [nth, draft]] of sorted.entries()) {
      const next = sorted[index + 1]
      if (next && overlap(draft, next[1]))
        throw new AppError('INVALID', `wallets.${Math.max(nth, next[0])} (body): overlaps another period of the same address in the list`)
    }
  }
  return drafts
}
