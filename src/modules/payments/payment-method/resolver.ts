/**
 * Which way to pay a payment page renders, decided by what is given and nothing else. For each method the candidates are walked in
 * their order; each step that was taken is in `meta.chain`, with what came of it.
 */
import {
  type CardProcessor,
  cohortDefaults,
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
  /** What the page begins with: a publishable key, PayPal's client id, QPay's invoice code; undefined: there is none. */
  readonly publishableKey: string | undefined
  /** Tap's name of the merchant, which Google Pay wants. */
  readonly merchantId?: string | undefined
}

export type ResolverInput = {
  readonly shop: { readonly mode: 'TEST' | 'LIVE'; readonly currency: string; readonly methods: ShopMethods }
  readonly partnership: { readonly name: string; readonly defaultCardProcessor: CardProcessor } | null
  /** Of the merchant's approved KYB record. */
  readonly kybCohort: string | null
  /** Processors that can say amounts of the shop's currency. */
  readonly says: ReadonlySet<ProcessorName>
  /** Processors that nothing is to be sent to for now. */
  readonly open: ReadonlySet<ProcessorName>
  /** The account that the shop's payments would go through: its own, else the instance's. */
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

type GooglePay =
  | { readonly gateway: string; readonly gatewayMerchantId: string }
  | { readonly gateway: string; readonly parameters: Readonly<Record<string, string>> }
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
  readonly currency: string
  readonly meta: {
    readonly kybCohort: string | null
    readonly partnership: string | null
    readonly chain: readonly ChainLink[]
    readonly skippedByBreaker: readonly ProcessorName[]
  }
}

/** The version of Stripe's API that everything of ours speaks. */
export const stripeVersion = '2026-10-28.endive'

/** A processor that may be used, with what the page needs of it. */
type Viable<Name extends ProcessorName = ProcessorName> = { readonly name: Name; readonly key: string; readonly account: PublicAccount }

/** Answers a payment page. The same input gives the same answer. */
export function resolve(input: ResolverInput): Resolved {
  const { shop, partnership, kybCohort } = input
  const chain: ChainLink[] = []
  const card = cardOf(input, chain)
  const paypal = aloneOf(input, chain, 'paypal', 'paypal')
  const crypto = aloneOf(input, chain, 'crypto', 'btcpay')
  const wallet = walletOf(input, chain, card)
  const skipped = new Set(chain.flatMap(({ outcome, candidate }) => (outcome === 'SKIPPED_OPEN' && candidate ? [candidate] : [])))
  return {
    card: card ? { processor: card.name, publishableKey: card.key, environment: card.account.mode === 'LIVE' ? 'live' : 'test' } : null,
    paypal: paypal ? { enabled: true, clientId: paypal.key } : { enabled: false },
    crypto: crypto ? { enabled: true, provider: crypto.name } : { enabled: false },
    wallet: walletView(wallet, shop.methods.wallet?.merchantIdentifier),
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
 * All processors that a checkout by a method may fall on, in the order in which `resolve` would choose them: the first is its choice.
 * @param input with nothing open, it tells of those too to which nothing is sent for now
 */
export function viableFor(input: ResolverInput, method: Method): ProcessorName[] {
  const { methods } = input.shop
  if (methods[method]?.enabled === false) return []
  const cards = cardCandidates(input).flatMap(([, name]) => name ?? [])
  const candidates: Record<Method, readonly ProcessorName[]> = {
    card: cards,
    paypal: ['paypal'],
    crypto: ['btcpay'],
    wallet: [
      ...(methods.wallet?.tokenProvider ? [methods.wallet.tokenProvider] : []),
      ...(methods.card?.enabled === false ? [] : cards),
    ].filter(takesWallets),
  }
  const ownKeyOf = (name: ProcessorName) =>
    name === methods.card?.processor ? methods.card.publishableKey : name === 'paypal' ? methods.paypal?.clientId : undefined
  return [...new Set(candidates[method])].filter((name) => 'name' in obstacleOf(input, name, ownKeyOf(name)))
}

/** What makes a candidate one that cannot be used, and the step at which that is seen; undefined when nothing does. */
function obstacleOf<Name extends ProcessorName>(
  { shop, says, open, accounts }: ResolverInput,
  name: Name,
  ownKey: string | undefined,
): { step?: Step; outcome: Outcome } | Viable<Name> {
  if (!says.has(name)) return { outcome: 'NO_CURRENCY' }
  if (open.has(name)) return { step: 'BREAKER', outcome: 'SKIPPED_OPEN' }
  const account = accounts[name]
  // Whoever pays by crypto is sent to the invoice: the page begins with nothing.
  const key = ownKey ?? account?.publishableKey ?? (name === 'btcpay' ? name : undefined)
  // Test money and real money never meet.
  if (!account || account.mode !== shop.mode || !key) return { step: 'PUBLISHABLE_KEY', outcome: 'NO_KEY' }
  return { name, key, account }
}

/** Tries one candidate, and notes what came of it. */
function tried<Name extends ProcessorName>(
  input: ResolverInput,
  chain: ChainLink[],
  { method, step, name, ownKey }: { method: Method; step: Step; name: Name; ownKey?: string | undefined },
): Viable<Name> | undefined {
  const found = obstacleOf(input, name, ownKey)
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
  const own = shop.methods.card
  if (own?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: own.processor ?? null, outcome: 'DISABLED' })
    return undefined
  }
  for (const [step, name] of cardCandidates(input)) {
    if (name === undefined) {
      chain.push({ method, step, candidate: null, outcome: 'NO_MATCH' })
      continue
    }
    // The shop's key is of the processor that it stands beside, and of no other.
    const ownKey = name === own?.processor ? own.publishableKey : undefined
    const found = tried(input, chain, { method, step, name, ownKey })
    if (found) return found
  }
  return undefined
}

/** A method that one processor alone serves. */
function aloneOf<Name extends 'paypal' | 'btcpay'>(
  input: ResolverInput,
  chain: ChainLink[],
  method: 'paypal' | 'crypto',
  name: Name,
): Viable<Name> | undefined {
  const own = input.shop.methods[method]
  if (own?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: name, outcome: 'DISABLED' })
    return undefined
  }
  const ownKey = method === 'paypal' ? input.shop.methods.paypal?.clientId : undefined
  // Where the shop says nothing of it, that there are credentials decides.
  return tried(input, chain, { method, step: own ? 'SHOP_CONFIG' : 'PUBLISHABLE_KEY', name, ownKey })
}

function walletOf(input: ResolverInput, chain: ChainLink[], card: Viable<CardProcessor> | undefined): Viable<CardProcessor> | undefined {
  const { wallet: own, card: ownCard } = input.shop.methods
  const method = 'wallet'
  if (own?.enabled === false) {
    chain.push({ method, step: 'SHOP_CONFIG', candidate: own.tokenProvider ?? null, outcome: 'DISABLED' })
    return undefined
  }
  const chosen = own?.tokenProvider
  if (chosen !== undefined && takesWallets(chosen)) {
    const ownKey = chosen === ownCard?.processor ? ownCard.publishableKey : undefined
    const found = tried(input, chain, { method, step: 'SHOP_CONFIG', name: chosen, ownKey })
    if (found) return found
  }
  // By the step that the card came by.
  const step = chain.find((link) => link.method === 'card' && link.outcome === 'SELECTED')?.step ?? 'SHOP_CONFIG'
  const follows = card && takesWallets(card.name) ? card : undefined
  chain.push({ method, step, candidate: follows?.name ?? null, outcome: follows ? 'SELECTED' : 'NO_MATCH' })
  return follows
}

function walletView(provider: Viable<CardProcessor> | undefined, merchantIdentifier: string | undefined): Resolved['wallet'] {
  if (!provider) return { enabled: false, tokenProvider: null }
  const googlePay = googlePayOf(provider)
  return {
    enabled: true,
    tokenProvider: provider.name,
    ...(googlePay ? { googlePay } : {}),
    ...(merchantIdentifier === undefined ? {} : { applePay: { merchantIdentifier } }),
  }
}

/** What Google Pay's own button is told of who takes the token. */
function googlePayOf({ name, key, account }: Viable<CardProcessor>): GooglePay | undefined {
  if (name === 'stripe') return { gateway: 'stripe', parameters: { 'stripe:version': stripeVersion, 'stripe:publishableKey': key } }
  if (name === 'checkout') return { gateway: 'checkoutltd', gatewayMerchantId: key }
  return name === 'tap' && account.merchantId ? { gateway: 'tappayments', gatewayMerchantId: account.merchantId } : undefined
}
