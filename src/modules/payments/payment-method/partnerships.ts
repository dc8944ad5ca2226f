import type { CommandContext } from '../../../core/command-context.ts'
import { invalidField } from '../../../core/errors.ts'
import { assertVersion } from '../../../core/versions.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { type Partnership, partnershipShopsMax } from './domain.ts'
import type { PaymentMethodDeps } from './providers.ts'

export type Partnerships = { readonly data: Partnership[]; readonly version: number }

/** Lists all partnerships in their order, with the version for `If-Match`. */
export const listPartnerships = ({ paymentMethodStore }: Pick<PaymentMethodDeps, 'paymentMethodStore'>): Promise<Partnerships> =>
  paymentMethodStore.partnerships()

/**
 * Replaces all partnerships.
 * @throws AppError INVALID for a repeated name or shop, too many shops, or an unknown shop; PRECONDITION_FAILED
 */
export async function setPartnerships(
  deps: PaymentMethodDeps,
  { actor, expected }: Pick<CommandContext, 'actor' | 'expected'>,
  data: Partnership[],
): Promise<Partnerships> {
  assertOnce(data)
  return audited(deps, { actor }, { action: 'partnerships.set', subject: 'partnerships' }, async (tx, setDifference) => {
    const before = await deps.paymentMethodStore.partnerships(tx)
    assertVersion(expected, before.version)
    const existingShops = await deps.paymentMethodStore.knownShops(
      tx,
      data.flatMap(({ shopIds }) => shopIds),
    )
    for (const [nth, { shopIds }] of data.entries()) {
      const at = shopIds.findIndex((id) => !existingShops.has(id))
      if (at >= 0) throw invalidField(`data.${nth}.shopIds.${at}`, 'must be a shop of this instance')
    }
    const after = { data, version: before.version + 1 }
    await deps.paymentMethodStore.putPartnerships(tx, data, after.version)
    setDifference(partnershipsDifference(before.data, data))
    return after
  })
}

function assertOnce(data: readonly Partnership[]): void {
  const names = new Set<string>()
  const shops = new Set<string>()
  for (const [nth, { name, shopIds }] of data.entries()) {
    if (names.has(name)) throw invalidField(`data.${nth}.name`, 'must not be repeated')
    names.add(name)
    for (const [at, id] of shopIds.entries()) {
      if (shops.has(id)) throw invalidField(`data.${nth}.shopIds.${at}`, 'a shop belongs to at most one partnership')
      shops.add(id)
    }
  }
  if (shops.size > partnershipShopsMax) throw invalidField('data', `must have at most ${partnershipShopsMax} shops in total`)
}

/** One audit value for each partnership that was added, removed or changed. */
function partnershipsDifference(before: readonly Partnership[], after: readonly Partnership[]): Difference {
  const byName = (data: readonly Partnership[]) =>
    Object.fromEntries(data.map(({ name, defaultCardProcessor, shopIds }) => [`partnership ${name}`, { defaultCardProcessor, shopIds }]))
  const [previous, is] = [byName(before), byName(after)]
  return differenceOf(previous, is, Object.keys({ ...previous, ...is }))
}
