import type { Writer } from '../../../../db/engine.ts'
import type { Change } from '../../../core/command-context.ts'
import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { assertExpected, unlessStale } from '../../../core/versions.ts'
import { lets } from '../../../lib/breaker.ts'
import { differenceOf } from '../../operations/audit/domain.ts'
import { audited } from '../../operations/audit/index.ts'
import { approvedCohortOf } from '../../shop/kyb/index.ts'
import { findPublicShop } from '../../shop/shop/index.ts'
import { accountsOfShop } from '../processor-account/index.ts'
import { accountsFor, type KnownAccounts, payableFor, withShopAccounts } from './accounts.ts'
import { looksSecret, type Method, type ProcessorName, processorNames, type ShopMethods } from './domain.ts'
import type { PaymentMethodDeps } from './providers.ts'
import { type Resolved, type ResolverInput, resolve, viableFor } from './resolver.ts'
import { type MethodWarning, warningsOf } from './warnings.ts'

export type PaymentMethods = ShopMethods & { readonly warnings: MethodWarning[]; readonly version: number }
type AboutShop = Pick<ShopContext, 'id' | 'merchantId' | 'mode' | 'currency'>

/**
 * What a payment page of a shop is told.
 * @param shopUrl its handle, or a host name of its storefront
 * @throws AppError NOT_FOUND, also for one that is suspended
 */
export async function resolvePaymentMethods(deps: PaymentMethodDeps, shopUrl: string): Promise<Resolved> {
  return resolve((await situationOf(deps, await findPublicShop(deps, shopUrl))).input)
}

/** All that the resolver decides by, and the accounts behind it. */
type Situation = { readonly input: ResolverInput; readonly known: KnownAccounts }

async function situationOf(
  deps: PaymentMethodDeps,
  { id, merchantId, mode, currency }: AboutShop,
  { methods: given, tx }: { methods?: ShopMethods; tx?: Writer } = {},
): Promise<Situation> {
  const store = deps.paymentMethodStore
  const asked = deps.db.read.together(
    () =>
      [
        given ? undefined : store.methodsOf(id, tx),
        store.partnershipOf(id, tx),
        approvedCohortOf(deps, merchantId, tx),
        store.isolations(tx),
        accountsOfShop(deps, { shopId: id, mode }, tx),
      ] as const,
  )
  const [row, partnership, kybCohort, isolated, own] = await Promise.all(asked)
  const known = withShopAccounts(deps.instanceAccounts[mode], own)
  const methods = given ?? row?.methods ?? {}
  const input = {
    shop: { mode, currency, methods },
    partnership: partnership ?? null,
    kybCohort: kybCohort ?? null,
    says: deps.processorsSaying(currency),
    open: openOf(deps, known, new Set(isolated.map(({ processor }) => processor))),
    accounts: accountsFor({ mode, methods }, known),
  }
  return { input, known }
}

/** Processors that nothing is to be sent to for now: by hand, or because the host of the account does not answer. */
function openOf(
  { breakers, instanceHosts }: Pick<PaymentMethodDeps, 'breakers' | 'instanceHosts'>,
  known: KnownAccounts,
  isolated: ReadonlySet<ProcessorName>,
): ReadonlySet<ProcessorName> {
  return new Set(
    processorNames.filter((processor) => {
      const host = known[processor]?.host ?? instanceHosts[processor]
      return isolated.has(processor) || (host !== undefined && !lets(breakers.of({ processor, host })))
    }),
  )
}

/** What a shop's checkout by a method may be paid by, in the order of the resolver. */
export type Offers = {
  /** Those that can be used now: the first is what payment pages are told. */
  readonly now: readonly ProcessorName[]
  /** Those to which nothing is sent for now besides. A page may have been told of one a moment ago. */
  readonly open: readonly ProcessorName[]
}

/**
 * What a shop's checkout may be paid by, for each method: what the resolver offers, of which the secret key is at hand. It is asked in one go, so
 * that it may be asked together with something else.
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

/** What a shop says of the ways to pay in it, with what of that can never be chosen. */
export async function paymentMethodsOf(deps: PaymentMethodDeps, shop: AboutShop): Promise<PaymentMethods> {
  const row = await deps.paymentMethodStore.methodsOf(shop.id)
  const methods = row?.methods ?? {}
  return { ...methods, warnings: warningsFor(await situationOf(deps, shop, { methods })), version: row?.version ?? 1 }
}

/**
 * Replaces all that a shop says of the ways to pay in it.
 * @throws AppError INVALID for a key that looks secret, and for one without the processor that it is of; PRECONDITION_FAILED
 */
export async function setPaymentMethods(deps: PaymentMethodDeps, by: Change<ShopContext>, methods: ShopMethods): Promise<PaymentMethods> {
  assertPublic(methods)
  const { shop } = by
  return audited(deps, by, { action: 'shop.payment_methods_set', subject: shop.id }, async (tx, tell) => {
    const before = await deps.paymentMethodStore.methodsOf(shop.id, tx)
    const version = before?.version ?? 1
    assertExpected(by.expected, version)
    const row = { shopId: shop.id, methods, updatedAt: deps.clock.now(), version: version + 1 }
    unlessStale((await deps.paymentMethodStore.putMethods(tx, row)) || undefined)
    tell(differenceOf<ShopMethods>(before?.methods ?? {}, methods, ['card', 'paypal', 'crypto', 'wallet']))
    return { ...methods, warnings: warningsFor(await situationOf(deps, shop, { methods, tx })), version: row.version }
  })
}

/** Whatever is saved here is told to every page that asks. */
function assertPublic({ card, paypal, wallet }: ShopMethods): void {
  const shown = {
    'card.publishableKey': card?.publishableKey,
    'paypal.clientId': paypal?.clientId,
    'wallet.merchantIdentifier': wallet?.merchantIdentifier,
  }
  for (const [field, value] of Object.entries(shown))
    if (value !== undefined && looksSecret(value))
      throw new AppError('INVALID', `${field} (body): begins like a secret key, and every payment page would show it`)
  if (card?.publishableKey !== undefined && card.processor === undefined)
    throw new AppError('INVALID', 'card.processor (body): must stand beside card.publishableKey')
}
