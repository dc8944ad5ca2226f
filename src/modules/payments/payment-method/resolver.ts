/**
 * Decides which payment methods a page shows. Pure: each method's candidates are tried in order, and each step
 * is recorded in `meta.chain` with its result.
 */
import { type GooglePay, processors } from '../../../clients/processors/index.ts'
import { processorsOf } from '../../../lib/processors.ts'
import {
  type CardProcessor,
  cohortDefaults,
  type ManualMethod,
  type Method,
  type outcomes,
  type ProcessorName,
  processorNames,
  type ShopMethods,
  type steps,
  takesWallets,
} from './domain.ts'

/** What a page may know of an account: nothing secret. */
export type PublicAccount = {
  readonly mode: 'TEST' | 'LIVE'
  /** What the page starts with: a publishable key, PayPal's client id or QPay's invoice code; undefined without one. */
  readonly publishableKey: string | undefined
  /** Tap's merchant name, which Google Pay requires. */
  readonly merchantId?: string | undefined
}

export type ResolverInput = {
  readonly shop: { readonly mode: 'TEST' | 'LIVE'; readonly currency: string; readonly methods: ShopMethods }
  readonly partnership: { readonly name: string; readonly defaultCardProcessor: CardProcessor } | null
  /** From the merchant's approved KYB record. */
  readonly kybCohort: string | null
  /** Processors that support the shop's currency. */
  readonly supported: ReadonlySet<ProcessorName>
  /** Processors that are not called now: isolated, or their breaker is open. */
  readonly open: ReadonlySet<ProcessorName>
  /** The account for the shop's payments: its own, else the instance's. */
  readonly accounts: Readonly<Partial<Record<ProcessorName, PublicAccount>>>
}

type Step = (typeof steps)[number]
type Outcome = (typeof outcomes)[number]
export type ChainLink = {
  readonly method: Method
  readonly step: Step
  readonly candidate: ProcessorName | null
  readonly outcome: Outcome
}

export type Resolved = {
  readonly card: { readonly processor: CardProcessor; readonly publishableKey: string; readonly environment: 'live' | 'test' } | null
  readonly paypal: { readonly enabled: boolean; readonly clientId?: string }
  readonly crypto: { readonly enabled: boolean; readonly provider?: string }
  readonly wallet: {
    readonly enabled: boolean
    readonly tokenProvider: CardProcessor | null
    readonly googlePay?: GooglePay
    readonly applePay?: { readonly merchantIdentifier: string }
  }
  readonly manual: readonly Pick<ManualMethod, 'code' | 'title'>[]
  readonly currency: string
  readonly meta: {
    readonly kybCohort: string | null
    readonly partnership: string | null
    readonly chain: readonly ChainLink[]
    readonly skippedByBreaker: readonly ProcessorName[]
  }
}

/** A usable processor, with what the page needs. */
type Viable<Name extends ProcessorName = ProcessorName> = { readonly name: Name; readonly key: string; readonly account: PublicAccount }

/** Resolves the payment methods of a page. The same input gives the same answer. */
export function resolve(input: ResolverInput): Resolved {
  const { shop, partnership, kybCohort } = input
  const chain: ChainLink[] = []
  const card = cardOf(input, chain)
  const paypal = resolveSingle(input, chain, 'paypal')
  const crypto = resolveSingle(input, chain, 'crypto')
  const wallet = walletOf(input, chain, card)
  const skipped = new Set(chain.flatMap(({ outcome, candidate }) => (outcome === 'SKIPPED_OPEN' && candidate ? [candidate] : [])))
  return {
    card: card ? { processor: card.name, publishableKey: card.key, environment: card.account.mode === 'LIVE' ? 'live' : 'test' } : null,
    paypal: paypal ? { enabled: true, clientId: paypal.key } : { enabled: false },
    crypto: crypto ? { enabled: true, provider: crypto.name } : { enabled: false },
    wallet: walletView(wallet, shop.methods.wallet?.merchantIdentifier),
    manual: (shop.methods.manual ?? []).map(({ code, title }) => ({ code, title })),
    currency: shop.currency,
    meta: {
      kybCohort,
      partnership: partnership?.name ?? null,
      chain,
      skippedByBreaker: processorNames.filter((name) => skipped.has(name)),
    },
  }
}

/**
 * Lists the processors that a checkout by a method may use, in the order of `resolve`.
 * @param input with an empty `open` it includes processors that are not called now
 */
export function viableFor(input: ResolverInput, method: Method): ProcessorName[] {
  const { methods } = input.shop
  if (methods[method]?.enabled === false) return []
  const cards = cardCandidates(input).flatMap(([, name]) => name ?? [])
  const candidates: Record<Method, readonly ProcessorName[]> = {
    card: cards,
    paypal: processorsOf('paypal'),
    crypto: processorsOf('crypto'),
    wallet: [
      ...(methods.wallet?.tokenProvider ? [methods.wallet.tokenProvider] : []),
      ...(methods.card?.enabled === false ? [] : cards),
    ].filter(takesWallets),
  }
  const ownKeyOf = (name: ProcessorName) =>
    name === methods.card?.processor ? methods.card.publishableKey : name === 'paypal' ? methods.paypal?.clientId : undefined
  return [...new Set(candidates[method])].filter((name) => 'name' in checkCandidate(input, name, ownKeyOf(name)))
}

/** Returns the candidate with its parameters if it can be used, otherwise the reason and the step that found it. */
function checkCandidate<Name extends ProcessorName>(
  { shop, supported, open, accounts }: ResolverInput,
  name: Name,
  ownKey: string | undefined,
): { step?: Step; outcome: Outcome } | Viable<Name> {
  if (!supported.has(name)) return { outcome: 'NO_CURRENCY' }
  if (open.has(name)) return { step: 'BREAKER', outcome: 'SKIPPED_OPEN' }
  const account = accounts[name]
  // An invoice page of the processor's own needs no key.
  const key = ownKey ?? account?.publishableKey ?? (processors[name].pageKey === undefined ? name : undefined)
  // Test and real money are never mixed.
  if (!account || account.mode !== shop.mode || !key) return { step: 'PUBLISHABLE_KEY', outcome: 'NO_KEY' }
  return { name, key, account }
}

/** Tries one candidate and records the result. */
function tryCandidate<Name extends ProcessorName>(
  input: ResolverInput,
  chain: ChainLink[],
  { method, step, name, ownKey }: { method: Method; step: Step; name: Name; ownKey?: string | undefined },
): Viable<Name> | undefined {
  const found = checkCandidate(input, name, ownKey)
  if ('name' in found) {
    chain.push({ method, step, candidate: name, outcome: 'SELECTED' })
    return found
  }
  chain.push({ method, step: found.step ?? step, candidate: name, outcome: found.outcome })
  return undefined
}

const cardCandidates = ({ shop, partnership, kybCohort }: ResolverInput): readonly (readonly [Step, CardProcessor | undefined])[] => [
  ['SHOP_CONFIG', shop.methods.card?.processor],
  ['PARTNERSHIP', partnership?.defaultCardProcessor],
  ['KYB_COHORT', kybCohort === null ? undefined : cohortDefaults.get(kybCohort)],
]

function cardOf(input: ResolverInput, chain: ChainLink[]): Viable<CardProcessor> | undefined {
  const { shop } = input
  const method = 'card'
  const shopMethod = shop.methods.card
  if (shopMethod?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: shopMethod.processor ?? null, outcome: 'DISABLED' })
    return undefined
  }
  for (const [step, name] of cardCandidates(input)) {
    if (name === undefined) {
      chain.push({ method, step, candidate: null, outcome: 'NO_MATCH' })
      continue
    }
    // The shop's key belongs to the processor beside it only.
    const ownKey = name === shopMethod?.processor ? shopMethod.publishableKey : undefined
    const found = tryCandidate(input, chain, { method, step, name, ownKey })
    if (found) return found
  }
  return undefined
}

/** Resolves a method with a single processor. */
function resolveSingle(input: ResolverInput, chain: ChainLink[], method: 'paypal' | 'crypto'): Viable | undefined {
  const [name] = processorsOf(method)
  if (name === undefined) return undefined
  const shopMethod = input.shop.methods[method]
  if (shopMethod?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: name, outcome: 'DISABLED' })
    return undefined
  }
  const ownKey = method === 'paypal' ? input.shop.methods.paypal?.clientId : undefined
  // Without a setting of the shop, existing credentials enable it.
  return tryCandidate(input, chain, { method, step: shopMethod ? 'SHOP_CONFIG' : 'PUBLISHABLE_KEY', name, ownKey })
}

function walletOf(input: ResolverInput, chain: ChainLink[], card: Viable<CardProcessor> | undefined): Viable<CardProcessor> | undefined {
  const { wallet: shopMethod, card: ownCard } = input.shop.methods
  const method = 'wallet'
  if (shopMethod?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: shopMethod.tokenProvider ?? null, outcome: 'DISABLED' })
    return undefined
  }
  const chosen = shopMethod?.tokenProvider
  if (chosen !== undefined && takesWallets(chosen)) {
    const ownKey = chosen === ownCard?.processor ? ownCard.publishableKey : undefined
    const found = tryCandidate(input, chain, { method, step: 'SHOP_CONFIG', name: chosen, ownKey })
    if (found) return found
  }
  // The step that selected the card processor.
  const step = chain.find((link) => link.method === 'card' && link.outcome === 'SELECTED')?.step ?? 'SHOP_CONFIG'
  const cardFallback = card && takesWallets(card.name) ? card : undefined
  chain.push({ method, step, candidate: cardFallback?.name ?? null, outcome: cardFallback ? 'SELECTED' : 'NO_MATCH' })
  return cardFallback
}

function walletView(provider: Viable<CardProcessor> | undefined, merchantIdentifier: string | undefined): Resolved['wallet'] {
  if (!provider) return { enabled: false, tokenProvider: null }
  const googlePay = processors[provider.name].googlePay?.(provider.key, provider.account)
  return {
    enabled: true,
    tokenProvider: provider.name,
    ...(googlePay ? { googlePay } : {}),
    ...(merchantIdentifier === undefined ? {} : { applePay: { merchantIdentifier } }),
  }
}
