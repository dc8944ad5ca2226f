import type { Writer } from '../../../../db/engine.ts'
import type { CommandContext } from '../../../core/command-context.ts'
import { fieldError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertNotStale, assertVersion } from '../../../core/versions.ts'
import { isClosed } from '../../../lib/breaker.ts'
import { assertOwner, type MemberDeps } from '../../identity/member/index.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { approvedCohortOf } from '../../shop/kyb/index.ts'
import { findPublicShop } from '../../shop/shop/index.ts'
import { accountsOfShop } from '../processor-account/index.ts'
import { accountsFor, type KnownAccounts, payableFor, withShopAccounts } from './accounts.ts'
import { looksLikeSecret, type ManualMethod, type Method, type ProcessorName, processorNames, type ShopMethods } from './domain.ts'
import type { PaymentMethodDeps } from './providers.ts'
import { type Resolved, type ResolverInput, resolve, viableFor } from './resolver.ts'
import { type MethodWarning, warningsOf } from './warnings.ts'

export type PaymentMethods = ShopMethods & { readonly warnings: MethodWarning[]; readonly version: number }
type AboutShop = Pick<ShopContext, 'id' | 'merchantId' | 'mode' | 'currency'>

/**
 * Returns the payment methods of a shop's page.
 * @param shopUrl its handle, or a host name of its storefront
 * @throws AppError NOT_FOUND, also for a suspended shop
 */
export async function resolvePaymentMethods(deps: PaymentMethodDeps, shopUrl: string): Promise<Resolved> {
  return resolve((await situationOf(deps, await findPublicShop(deps, shopUrl))).input)
}

/** The resolver's input, and the accounts behind it. */
type Situation = { readonly input: ResolverInput; readonly known: KnownAccounts }

async function situationOf(
  deps: PaymentMethodDeps,
  { id, merchantId, mode, currency }: AboutShop,
  { methods: givenMethods, tx }: { methods?: ShopMethods; tx?: Writer } = {},
): Promise<Situation> {
  const store = deps.paymentMethodStore
  const reads = deps.db.read.inSnapshot(
    () =>
      [
        givenMethods ? undefined : store.methodsOf(id, tx),
        store.partnershipOf(id, tx),
        approvedCohortOf(deps, merchantId, tx),
        store.isolations(tx),
        accountsOfShop(deps, { shopId: id, mode }, tx),
      ] as const,
  )
  const [row, partnership, kybCohort, isolated, shopAccounts] = await Promise.all(reads)
  const accounts = withShopAccounts(deps.instanceAccounts[mode], shopAccounts)
  const methods = givenMethods ?? row?.methods ?? {}
  const input = {
    shop: { mode, currency, methods },
    partnership: partnership ?? null,
    kybCohort: kybCohort ?? null,
    supported: deps.processorsSupporting(currency),
    open: openOf(deps, accounts, new Set(isolated.map(({ processor }) => processor))),
    accounts: accountsFor({ mode, methods }, accounts),
  }
  return { input, known: accounts }
}

/** Returns the processors that are not called now: isolated, or the account's host does not answer. */
function openOf(
  { breakers, instanceHosts }: Pick<PaymentMethodDeps, 'breakers' | 'instanceHosts'>,
  accounts: KnownAccounts,
  isolated: ReadonlySet<ProcessorName>,
): ReadonlySet<ProcessorName> {
  return new Set(
    processorNames.filter((processor) => {
      const host = accounts[processor]?.host ?? instanceHosts[processor]
      return isolated.has(processor) || (host !== undefined && !isClosed(breakers.of({ processor, host })))
    }),
  )
}

/** The processors for a method of a shop's checkout, in the resolver's order. */
export type Offers = {
  /** Usable now; the first is what payment pages show. */
  readonly now: readonly ProcessorName[]
  /** Not called now. A page may have shown one a moment ago. */
  readonly open: readonly ProcessorName[]
}

/**
 * Returns what a shop's checkout can use for each method: the resolver's processors with a secret key. Its queries can
 * join other reads.
 */
export async function offersOf(deps: PaymentMethodDeps, shop: AboutShop): Promise<(method: Method) => Offers> {
  const { input, known } = await situationOf(deps, shop)
  return (method) => {
    const payable = payableFor(input.shop, known)
    const now = viableFor(input, method).filter((name) => payable.has(name))
    const all = viableFor({ ...input, open: new Set() }, method).filter((name) => payable.has(name))
    return { now, open: all.filter((name) => !now.includes(name)) }
  }
}

const warningsFor = ({ input, known }: Situation): MethodWarning[] => warningsOf(input, payableFor(input.shop, known))

/** Returns a shop's configuration, with warnings about choices that can never be used. */
export async function paymentMethodsOf(deps: PaymentMethodDeps, shop: AboutShop): Promise<PaymentMethods> {
  const row = await deps.paymentMethodStore.methodsOf(shop.id)
  const methods = row?.methods ?? {}
  return { ...methods, warnings: warningsFor(await situationOf(deps, shop, { methods })), version: row?.version ?? 1 }
}

/**
 * Replaces a shop's configuration.
 * @throws AppError INVALID for a key that looks secret, or has no processor, or a repeated code; PRECONDITION_FAILED;
 *   FORBIDDEN if another than an OWNER changes where manual payments go
 */
export async function setPaymentMethods(
  deps: PaymentMethodDeps & MemberDeps,
  by: CommandContext<ShopContext>,
  methods: ShopMethods,
): Promise<PaymentMethods> {
  assertPublic(methods)
  assertUniqueCodes(methods.manual ?? [])
  const { shop } = by
  return audited(deps, by, { action: 'shop.payment_methods_set', subject: shop.id }, async (tx, setDifference) => {
    const before = await deps.paymentMethodStore.methodsOf(shop.id, tx)
    const version = before?.version ?? 1
    assertVersion(by.expected, version)
    if (JSON.stringify(before?.methods.manual ?? []) !== JSON.stringify(methods.manual ?? [])) await assertOwner(tx, deps, by)
    const row = { shopId: shop.id, methods, updatedAt: deps.clock.now(), version: version + 1 }
    assertNotStale((await deps.paymentMethodStore.putMethods(tx, row)) || undefined)
    setDifference(differenceOf<ShopMethods>(before?.methods ?? {}, methods, ['card', 'paypal', 'crypto', 'wallet']))
    return { ...methods, warnings: warningsFor(await situationOf(deps, shop, { methods, tx })), version: row.version }
  })
}

type ManualMethodDeps = Pick<PaymentMethodDeps, 'paymentMethodStore'>

/**
 * Finds a manual method of a shop.
 * @throws AppError CONFLICT for a code that the shop does not offer
 */
export async function manualMethodOf(deps: ManualMethodDeps, shopId: string, code: string): Promise<ManualMethod> {
  const found = (await manualMethodsOf(deps, shopId)).find((method) => method.code === code)
  if (found) return found
  throw fieldError('CONFLICT', 'manualCode', 'not offered by the shop: see the payment intent resolver', {
    code: 'processor_not_available',
  })
}

/** Lists the manual methods of a shop. */
export const manualMethodsOf = async ({ paymentMethodStore }: ManualMethodDeps, shopId: string): Promise<readonly ManualMethod[]> =>
  (await paymentMethodStore.methodsOf(shopId))?.methods.manual ?? []

function assertUniqueCodes(manual: readonly ManualMethod[]): void {
  const repeated = manual.findIndex(({ code }, at) => manual.findIndex((other) => other.code === code) < at)
  if (repeated >= 0) throw invalidField(`manual.${repeated}.code`, 'must not be repeated')
}

/** These values are shown to every page. */
function assertPublic({ card, paypal, wallet }: ShopMethods): void {
  const response = {
    'card.publishableKey': card?.publishableKey,
    'paypal.clientId': paypal?.clientId,
    'wallet.merchantIdentifier': wallet?.merchantIdentifier,
  }
  for (const [field, value] of Object.entries(response))
    if (value !== undefined && looksLikeSecret(value))
      throw invalidField(field, 'looks like a secret key, but this field is public: payment pages show it')
  if (card?.publishableKey !== undefined && card.processor === undefined)
    throw invalidField('card.processor', 'required together with card.publishableKey')
}
