/** The payment methods that a page is offered: every class of input for each method, and properties of the resolver. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import {
  type CardProcessor,
  cardProcessors,
  cohortDefaults,
  type Method,
  type ProcessorName,
  processorNames,
  takesWallets,
} from '../../../../src/modules/payments/payment-method/domain.ts'
import { type PublicAccount, type Resolved, type ResolverInput, resolve } from '../../../../src/modules/payments/payment-method/resolver.ts'
import { longTestMs } from '../../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const account = (name: ProcessorName, mode: 'TEST' | 'LIVE' = 'TEST', withKey = true): PublicAccount => ({
  mode,
  publishableKey: withKey ? `pk_${name}` : undefined,
  merchantId: `merchant-${name}`,
})
const allProcessors = new Set(processorNames)
const baseInput: ResolverInput = {
  shop: { mode: 'TEST', currency: 'USD', methods: {} },
  partnership: null,
  kybCohort: null,
  supported: allProcessors,
  open: new Set(),
  accounts: Object.fromEntries(processorNames.map((name) => [name, account(name)])),
}
const inputWith = (change: Partial<Omit<ResolverInput, 'shop'>> & { shop?: Partial<ResolverInput['shop']> }): ResolverInput => ({
  ...baseInput,
  ...change,
  shop: { ...baseInput.shop, ...change.shop },
})
const stepsOf = ({ meta: { chain } }: Resolved, method: Method) =>
  chain.filter((link) => link.method === method).map(({ step, candidate, outcome }) => [step, candidate, outcome])

/** The reasons for which a candidate may be unusable. */
const faultKinds = ['fine', 'no currency', 'open', 'no account', 'no key', 'other mode'] as const
type Fault = (typeof faultKinds)[number]

/** Returns the input with faults of some processors. */
function withFaults(input: ResolverInput, faults: Partial<Record<ProcessorName, Fault>>): ResolverInput {
  const supported = new Set(input.supported)
  const open = new Set(input.open)
  const accounts = { ...input.accounts }
  for (const [name, fault] of Object.entries(faults) as [ProcessorName, Fault][]) {
    if (fault === 'no currency') supported.delete(name)
    if (fault === 'open') open.add(name)
    if (fault === 'no account') delete accounts[name]
    if (fault === 'no key') accounts[name] = account(name, 'TEST', false)
    if (fault === 'other mode') accounts[name] = account(name, 'LIVE')
  }
  return { ...input, supported, open, accounts }
}

const outcomeOf: Record<Fault, string> = {
  fine: 'SELECTED',
  'no currency': 'NO_CURRENCY',
  open: 'SKIPPED_OPEN',
  'no account': 'NO_KEY',
  'no key': 'NO_KEY',
  'other mode': 'NO_KEY',
}

describe('the card', () => {
  test("the card's processor is the first usable one of the shop's choice, the partnership's default and the cohort's default", () => {
    const choices = [undefined, ...cardProcessors] as const
    const cohorts = [null, 'UK_LTD', 'KSA_COMPANY', 'MN_LLC', 'US_COMPANY'] as const
    // A key in the shop's configuration belongs to its chosen processor. It replaces the account's key.
    const configurations = [
      { own: undefined, isOn: true, key: undefined },
      ...cardProcessors.flatMap((own) => [undefined, 'pk_test_own'].map((key) => ({ own, isOn: true, key }))),
      ...choices.map((own) => ({ own, isOn: false, key: undefined })),
    ] as const
    let classes = 0
    for (const { own, isOn, key } of configurations)
      for (const preset of choices)
        for (const kybCohort of cohorts) {
          const byCohort = kybCohort === null ? undefined : cohortDefaults.get(kybCohort)
          const candidates = [own, preset, byCohort]
          const namedProcessors = [...new Set(candidates.filter((name) => name !== undefined))]
          // Every combination of faults of the named processors: six for each.
          for (let nth = 0; nth < faultKinds.length ** namedProcessors.length; nth++) {
            const faults = Object.fromEntries(
              namedProcessors.map((name, at) => [name, faultKinds[Math.floor(nth / faultKinds.length ** at) % faultKinds.length] as Fault]),
            ) as Record<CardProcessor, Fault>
            const config = { enabled: isOn, ...(own && { processor: own }), ...(key && { publishableKey: key }) }
            const { card, meta } = resolve(
              withFaults(
                inputWith({
                  shop: own || !isOn ? { methods: { card: config } } : {},
                  partnership: preset ? { name: 'harbor', defaultCardProcessor: preset } : null,
                  kybCohort,
                }),
                faults,
              ),
            )
            classes++
            const cardSteps = meta.chain.filter(({ method }) => method === 'card')
            if (!isOn) {
              expect([card, cardSteps.map(({ candidate, outcome }) => [candidate, outcome])]).toEqual([null, [[own ?? null, 'DISABLED']]])
              continue
            }
            const faultOf = (name: CardProcessor) => (name === own && key && faults[name] === 'no key' ? 'fine' : faults[name])
            const selected = candidates.findIndex((name) => name !== undefined && faultOf(name) === 'fine')
            const expected = candidates[selected] ?? null
            expect(card?.processor ?? null).toBe(expected)
            expect(card?.publishableKey ?? null).toBe(expected === null ? null : expected === own && key ? key : `pk_${expected}`)
            // The chain has every step up to the deciding one, in order, with its outcome.
            const stepCount = expected === null ? candidates.length : selected + 1
            expect(cardSteps.map(({ candidate }) => candidate)).toEqual(candidates.slice(0, stepCount).map((name) => name ?? null))
            expect(cardSteps.map(({ outcome }) => String(outcome))).toEqual(
              candidates.slice(0, stepCount).map((name) => (name === undefined ? 'NO_MATCH' : outcomeOf[faultOf(name)])),
            )
            const skipped = candidates.slice(0, stepCount).filter((name) => name !== undefined && faults[name] === 'open')
            expect(meta.skippedByBreaker.filter((name) => skipped.includes(name as CardProcessor))).toEqual(
              processorNames.filter((name) => skipped.includes(name as CardProcessor)),
            )
          }
        }
    expect(classes).toBe(19_360)
  })

  test('a card that the shop has disabled stays off, even if the partnership or the cohort has a default', () => {
    for (const processor of [undefined, ...cardProcessors]) {
      const methods = { card: { enabled: false, ...(processor ? { processor } : {}) } }
      const partnership = { name: 'harbor', defaultCardProcessor: 'checkout' } as const
      const answer = resolve(inputWith({ shop: { methods }, partnership, kybCohort: 'US_COMPANY' }))
      expect(answer.card).toBeNull()
      expect(stepsOf(answer, 'card')).toEqual([['SHOP_CONFIG', processor ?? null, 'DISABLED']])
      // The wallet does not fall back to the disabled card.
      expect(answer.wallet.enabled).toBe(false)
    }
  })

  test("the publishable key of the shop's configuration is used only with the processor that it was entered for", () => {
    const methods = { card: { enabled: true, processor: 'stripe', publishableKey: 'pk_own' } } as const
    expect(resolve(inputWith({ shop: { methods } })).card).toEqual({ processor: 'stripe', publishableKey: 'pk_own', environment: 'test' })
    const open = new Set<ProcessorName>(['stripe'])
    const fallback = resolve(inputWith({ shop: { methods }, open, kybCohort: 'KUWAIT_WLL' }))
    expect(fallback.card).toEqual({ processor: 'tap', publishableKey: 'pk_tap', environment: 'test' })
    expect(fallback.meta.skippedByBreaker).toEqual(['stripe'])
  })

  test("the card's account always has the mode of the shop", () => {
    for (const mode of ['TEST', 'LIVE'] as const)
      for (const other of ['TEST', 'LIVE'] as const) {
        const { card } = resolve(inputWith({ shop: { mode }, kybCohort: 'US_COMPANY', accounts: { stripe: account('stripe', other) } }))
        expect(card?.environment).toBe(mode === other ? (mode === 'LIVE' ? 'live' : 'test') : undefined)
      }
  })
})

describe('PayPal and crypto', () => {
  const singleProcessorMethods = [
    ['paypal', 'paypal', { enabled: true, clientId: 'pk_paypal' }],
    ['crypto', 'btcpay', { enabled: true, provider: 'btcpay' }],
  ] as const
  test('PayPal and crypto are on only with an account, a supported currency and a closed breaker, unless the shop disabled them', () => {
    let classes = 0
    for (const [method, name, on] of singleProcessorMethods)
      for (const config of [undefined, true, false])
        for (const fault of faultKinds) {
          const methods = config === undefined ? {} : { [method]: { enabled: config } }
          const answer = resolve(withFaults(inputWith({ shop: { methods } }), { [name]: fault }))
          // Crypto needs no publishable key on the page.
          const isUsable = fault === 'fine' || (fault === 'no key' && name === 'btcpay')
          expect(answer[method]).toEqual(isUsable && config !== false ? on : { enabled: false })
          const outcome = config === false ? 'DISABLED' : isUsable ? 'SELECTED' : outcomeOf[fault]
          expect(stepsOf(answer, method).map((link) => String(link[2]))).toEqual([outcome])
          classes++
        }
    expect(classes).toBe(36)
  })
})

describe('the wallet', () => {
  test("the wallet's processor is the shop's choice if usable, else the card's processor if it takes wallets, else the wallet is off", () => {
    let classes = 0
    for (const chosen of [undefined, 'stripe', 'tap', 'checkout'] as const)
      for (const card of [undefined, ...cardProcessors] as const)
        for (const faultOfChosen of faultKinds)
          for (const faultOfCard of faultKinds) {
            if (chosen !== undefined && chosen === card && faultOfChosen !== faultOfCard) continue
            const methods = {
              ...(card ? { card: { enabled: true, processor: card } } : {}),
              ...(chosen ? { wallet: { enabled: true, tokenProvider: chosen } } : {}),
            }
            const faults = { ...(card ? { [card]: faultOfCard } : {}), ...(chosen ? { [chosen]: faultOfChosen } : {}) }
            const { wallet } = resolve(withFaults(inputWith({ shop: { methods } }), faults))
            const cardFallback = card && faultOfCard === 'fine' && takesWallets(card) ? card : null
            const expected = chosen && faultOfChosen === 'fine' ? chosen : cardFallback
            expect(wallet.tokenProvider).toBe(expected)
            expect(wallet.enabled).toBe(expected !== null)
            expect(wallet.googlePay !== undefined).toBe(expected !== null)
            classes++
          }
    expect(classes).toBe(630)
  })

  test("the wallet names the gateway for Google Pay in each processor's format, and the shop's merchant identifier for Apple Pay", () => {
    const walletOf = (tokenProvider: CardProcessor) =>
      resolve(inputWith({ shop: { methods: { wallet: { enabled: true, tokenProvider, merchantIdentifier: 'merchant.example' } } } })).wallet
    expect(walletOf('checkout').googlePay).toEqual({ gateway: 'checkoutltd', gatewayMerchantId: 'pk_checkout' })
    expect(walletOf('tap').googlePay).toEqual({ gateway: 'tappayments', gatewayMerchantId: 'merchant-tap' })
    expect(walletOf('stripe').googlePay).toEqual({
      gateway: 'stripe',
      parameters: { 'stripe:version': '2026-10-28.endive', 'stripe:publishableKey': 'pk_stripe' },
    })
    expect(walletOf('tap').applePay).toEqual({ merchantIdentifier: 'merchant.example' })
  })
})

describe('generated inputs', () => {
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const card = fc.constantFrom(...cardProcessors)
  const processorSets = fc.subarray([...processorNames]).map((some) => new Set(some))
  const key = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `pk_${text}`)
  const defined = <T extends object>(object: T) =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
  const inputs: fc.Arbitrary<ResolverInput> = fc
    .record({
      mode: fc.constantFrom('TEST' as const, 'LIVE' as const),
      currency: fc.constantFrom('USD', 'KWD', 'MNT'),
      card: maybe(fc.record({ enabled: fc.boolean(), processor: maybe(card), publishableKey: maybe(key) })),
      paypal: maybe(fc.record({ enabled: fc.boolean(), clientId: maybe(key) })),
      crypto: maybe(fc.record({ enabled: fc.boolean() })),
      wallet: maybe(fc.record({ enabled: fc.boolean(), tokenProvider: maybe(card), merchantIdentifier: maybe(key) })),
      partnership: fc.option(fc.record({ name: fc.string(), defaultCardProcessor: card }), { nil: null }),
      kybCohort: fc.option(fc.constantFrom(...[...cohortDefaults.keys()], 'UK_LTD', 'toString'), { nil: null }),
      supported: processorSets,
      open: processorSets,
      accounts: fc.dictionary(
        fc.constantFrom(...processorNames),
        fc.record({ mode: fc.constantFrom('TEST' as const, 'LIVE' as const), publishableKey: maybe(key), merchantId: maybe(fc.string()) }),
      ),
    })
    .map(({ mode, currency, card: cards, paypal, crypto, wallet, ...rest }) => ({
      ...rest,
      shop: {
        mode,
        currency,
        methods: defined({ card: cards && defined(cards), paypal: paypal && defined(paypal), crypto, wallet: wallet && defined(wallet) }),
      },
    })) as fc.Arbitrary<ResolverInput>

  test('the same input gives the same answer, and the steps of the chain are in order', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const answer = resolve(input)
        expect(resolve(structuredClone(input))).toEqual(answer)
        const order = ['SHOP_CONFIG', 'PARTNERSHIP', 'KYB_COHORT']
        const places = answer.meta.chain
          .filter((link) => link.method === 'card')
          .map(({ step }) => order.indexOf(step))
          .filter((at) => at >= 0)
        expect(places).toEqual([...places].sort((a, b) => a - b))
        // A selected step is the last step of its method, so there is at most one.
        for (const method of ['card', 'paypal', 'crypto', 'wallet'] as const) {
          const outcomes = stepsOf(answer, method).map((link) => link[2])
          expect(outcomes.length).toBeGreaterThan(0)
          expect(outcomes.slice(0, -1)).not.toContain('SELECTED')
        }
      }),
      { numRuns: 500 },
    )
  })

  test('nothing is offered that is down, disabled, of the other mode or without a key, and the chain names every skipped processor', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { card: cards, paypal, crypto, wallet, meta } = resolve(input)
        const { methods, mode } = input.shop
        const offered = [
          cards?.processor,
          paypal.enabled ? 'paypal' : undefined,
          crypto.enabled ? 'btcpay' : undefined,
          wallet.tokenProvider ?? undefined,
        ].filter((name) => name !== undefined) as ProcessorName[]
        for (const name of offered) {
          expect(input.open.has(name)).toBe(false)
          expect(input.supported.has(name)).toBe(true)
          expect(input.accounts[name]?.mode).toBe(mode)
        }
        if (methods.card?.enabled === false) expect(cards).toBeNull()
        if (methods.paypal?.enabled === false) expect(paypal).toEqual({ enabled: false })
        if (methods.crypto?.enabled === false) expect(crypto).toEqual({ enabled: false })
        if (methods.wallet?.enabled === false) expect(wallet).toEqual({ enabled: false, tokenProvider: null })
        if (cards) expect(cards.publishableKey.length).toBeGreaterThan(0)
        expect(
          meta.chain.filter((link) => link.outcome === 'SKIPPED_OPEN').every((link) => input.open.has(link.candidate as ProcessorName)),
        ).toBe(true)
        expect(new Set(meta.skippedByBreaker)).toEqual(
          new Set(meta.chain.flatMap((link) => (link.outcome === 'SKIPPED_OPEN' && link.candidate ? [link.candidate] : []))),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('a cohort named like a property of an object has no default', () => {
    expect(resolve(inputWith({ kybCohort: 'toString' })).card).toBeNull()
    expect(stepsOf(resolve(inputWith({ kybCohort: 'constructor' })), 'card').at(-1)).toEqual(['KYB_COHORT', null, 'NO_MATCH'])
  })
})
