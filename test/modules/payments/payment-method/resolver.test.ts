/** What a payment page is told: by properties, and by going over every class of input, method by method. */
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
const all = new Set(processorNames)
const everything: ResolverInput = {
  shop: { mode: 'TEST', currency: 'USD', methods: {} },
  partnership: null,
  kybCohort: null,
  says: all,
  open: new Set(),
  accounts: Object.fromEntries(processorNames.map((name) => [name, account(name)])),
}
const given = (change: Partial<Omit<ResolverInput, 'shop'>> & { shop?: Partial<ResolverInput['shop']> }): ResolverInput => ({
  ...everything,
  ...change,
  shop: { ...everything.shop, ...change.shop },
})
const linksOf = ({ meta: { chain } }: Resolved, method: Method) =>
  chain.filter((link) => link.method === method).map(({ step, candidate, outcome }) => [step, candidate, outcome])

/** How a candidate may stand: the classes of what can be wrong with it. */
const standings = ['fine', 'no currency', 'open', 'no account', 'no key', 'other mode'] as const
type Standing = (typeof standings)[number]

/** The same input but for how some processors stand. */
function standing(input: ResolverInput, how: Partial<Record<ProcessorName, Standing>>): ResolverInput {
  const says = new Set(input.says)
  const open = new Set(input.open)
  const accounts = { ...input.accounts }
  for (const [name, is] of Object.entries(how) as [ProcessorName, Standing][]) {
    if (is === 'no currency') says.delete(name)
    if (is === 'open') open.add(name)
    if (is === 'no account') delete accounts[name]
    if (is === 'no key') accounts[name] = account(name, 'TEST', false)
    if (is === 'other mode') accounts[name] = account(name, 'LIVE')
  }
  return { ...input, says, open, accounts }
}

const outcomeOf: Record<Standing, string> = {
  fine: 'SELECTED',
  'no currency': 'NO_CURRENCY',
  open: 'SKIPPED_OPEN',
  'no account': 'NO_KEY',
  'no key': 'NO_KEY',
  'other mode': 'NO_KEY',
}

describe('the card', () => {
  test('is the shop’s, else the preset’s, else the cohort’s, of those that can be used; what else there is never matters', () => {
    const choices = [undefined, ...cardProcessors] as const
    const cohorts = [null, 'UK_LTD', 'KSA_COMPANY', 'MN_LLC', 'US_COMPANY'] as const
    // A key of the shop's own stands beside its own choice only, and goes before that of the account, which there has to be.
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
          const wanted = [own, preset, byCohort]
          const named = [...new Set(wanted.filter((name) => name !== undefined))]
          // Every way in which those that are named can stand: six each.
          for (let nth = 0; nth < standings.length ** named.length; nth++) {
            const how = Object.fromEntries(
              named.map((name, at) => [name, standings[Math.floor(nth / standings.length ** at) % standings.length] as Standing]),
            ) as Record<CardProcessor, Standing>
            const config = { enabled: isOn, ...(own && { processor: own }), ...(key && { publishableKey: key }) }
            const { card, meta } = resolve(
              standing(
                given({
                  shop: own || !isOn ? { methods: { card: config } } : {},
                  partnership: preset ? { name: 'harbor', defaultCardProcessor: preset } : null,
                  kybCohort,
                }),
                how,
              ),
            )
            classes++
            const walked = meta.chain.filter(({ method }) => method === 'card')
            if (!isOn) {
              expect([card, walked.map(({ candidate, outcome }) => [candidate, outcome])]).toEqual([null, [[own ?? null, 'DISABLED']]])
              continue
            }
            const stands = (name: CardProcessor) => (name === own && key && how[name] === 'no key' ? 'fine' : how[name])
            const at = wanted.findIndex((name) => name !== undefined && stands(name) === 'fine')
            const expected = wanted[at] ?? null
            expect(card?.processor ?? null).toBe(expected)
            expect(card?.publishableKey ?? null).toBe(expected === null ? null : expected === own && key ? key : `pk_${expected}`)
            // Every step up to the one that decided is there, in its order, with why it did not.
            const decided = expected === null ? wanted.length : at + 1
            expect(walked.map(({ candidate }) => candidate)).toEqual(wanted.slice(0, decided).map((name) => name ?? null))
            expect(walked.map(({ outcome }) => String(outcome))).toEqual(
              wanted.slice(0, decided).map((name) => (name === undefined ? 'NO_MATCH' : outcomeOf[stands(name)])),
            )
            const skipped = wanted.slice(0, decided).filter((name) => name !== undefined && how[name] === 'open')
            expect(meta.skippedByBreaker.filter((name) => skipped.includes(name as CardProcessor))).toEqual(
              processorNames.filter((name) => skipped.includes(name as CardProcessor)),
            )
          }
        }
    expect(classes).toBe(19_360)
  })

  test('that the shop has disabled stays off, whoever else would have one', () => {
    for (const processor of [undefined, ...cardProcessors]) {
      const methods = { card: { enabled: false, ...(processor ? { processor } : {}) } }
      const partnership = { name: 'harbor', defaultCardProcessor: 'checkout' } as const
      const answer = resolve(given({ shop: { methods }, partnership, kybCohort: 'US_COMPANY' }))
      expect(answer.card).toBeNull()
      expect(linksOf(answer, 'card')).toEqual([['SHOP_CONFIG', processor ?? null, 'DISABLED']])
      // Nor does a wallet follow it.
      expect(answer.wallet.enabled).toBe(false)
    }
  })

  test('has the shop’s own key beside the processor that it was given for, and beside no other', () => {
    const methods = { card: { enabled: true, processor: 'stripe', publishableKey: 'pk_own' } } as const
    expect(resolve(given({ shop: { methods } })).card).toEqual({ processor: 'stripe', publishableKey: 'pk_own', environment: 'test' })
    const open = new Set<ProcessorName>(['stripe'])
    const fallen = resolve(given({ shop: { methods }, open, kybCohort: 'KUWAIT_WLL' }))
    expect(fallen.card).toEqual({ processor: 'tap', publishableKey: 'pk_tap', environment: 'test' })
    expect(fallen.meta.skippedByBreaker).toEqual(['stripe'])
  })

  test('is never one of test money in a shop that takes real money, nor the other way round', () => {
    for (const mode of ['TEST', 'LIVE'] as const)
      for (const other of ['TEST', 'LIVE'] as const) {
        const { card } = resolve(given({ shop: { mode }, kybCohort: 'US_COMPANY', accounts: { stripe: account('stripe', other) } }))
        expect(card?.environment).toBe(mode === other ? (mode === 'LIVE' ? 'live' : 'test') : undefined)
      }
  })
})

describe('PayPal and crypto', () => {
  const alone = [
    ['paypal', 'paypal', { enabled: true, clientId: 'pk_paypal' }],
    ['crypto', 'btcpay', { enabled: true, provider: 'btcpay' }],
  ] as const
  test('are on exactly where there is an account, the shop has not disabled them, they say the currency and nothing is down', () => {
    let classes = 0
    for (const [method, name, on] of alone)
      for (const config of [undefined, true, false])
        for (const is of standings) {
          const methods = config === undefined ? {} : { [method]: { enabled: config } }
          const answer = resolve(standing(given({ shop: { methods } }), { [name]: is }))
          // Crypto begins with nothing on the page.
          const isFine = is === 'fine' || (is === 'no key' && name === 'btcpay')
          expect(answer[method]).toEqual(isFine && config !== false ? on : { enabled: false })
          const outcome = config === false ? 'DISABLED' : isFine ? 'SELECTED' : outcomeOf[is]
          expect(linksOf(answer, method).map((link) => String(link[2]))).toEqual([outcome])
          classes++
        }
    expect(classes).toBe(36)
  })
})

describe('the wallet', () => {
  test('is the shop’s choice where that can be used, else the card’s processor where that takes wallets, else off', () => {
    let classes = 0
    for (const chosen of [undefined, 'stripe', 'tap', 'checkout'] as const)
      for (const card of [undefined, ...cardProcessors] as const)
        for (const ofChosen of standings)
          for (const ofCard of standings) {
            if (chosen !== undefined && chosen === card && ofChosen !== ofCard) continue
            const methods = {
              ...(card ? { card: { enabled: true, processor: card } } : {}),
              ...(chosen ? { wallet: { enabled: true, tokenProvider: chosen } } : {}),
            }
            const how = { ...(card ? { [card]: ofCard } : {}), ...(chosen ? { [chosen]: ofChosen } : {}) }
            const { wallet } = resolve(standing(given({ shop: { methods } }), how))
            const follows = card && ofCard === 'fine' && takesWallets(card) ? card : null
            const expected = chosen && ofChosen === 'fine' ? chosen : follows
            expect(wallet.tokenProvider).toBe(expected)
            expect(wallet.enabled).toBe(expected !== null)
            expect(wallet.googlePay !== undefined).toBe(expected !== null)
            classes++
          }
    expect(classes).toBe(630)
  })

  test('tells Google Pay who takes the token, as each of them wants it, and Apple Pay the shop’s name for itself', () => {
    const of = (tokenProvider: CardProcessor) =>
      resolve(given({ shop: { methods: { wallet: { enabled: true, tokenProvider, merchantIdentifier: 'merchant.example' } } } })).wallet
    expect(of('checkout').googlePay).toEqual({ gateway: 'checkoutltd', gatewayMerchantId: 'pk_checkout' })
    expect(of('tap').googlePay).toEqual({ gateway: 'tappayments', gatewayMerchantId: 'merchant-tap' })
    expect(of('stripe').googlePay).toEqual({
      gateway: 'stripe',
      parameters: { 'stripe:version': '2026-10-28.endive', 'stripe:publishableKey': 'pk_stripe' },
    })
    expect(of('tap').applePay).toEqual({ merchantIdentifier: 'merchant.example' })
  })
})

describe('whatever is given', () => {
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const card = fc.constantFrom(...cardProcessors)
  const names = fc.subarray([...processorNames]).map((some) => new Set(some))
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
      says: names,
      open: names,
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

  test('the same input gives the same answer, and the order of the steps is never broken', () => {
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
        // What was selected is the last of its method, and there is one at most.
        for (const method of ['card', 'paypal', 'crypto', 'wallet'] as const) {
          const outcomes = linksOf(answer, method).map((link) => link[2])
          expect(outcomes.length).toBeGreaterThan(0)
          expect(outcomes.slice(0, -1)).not.toContain('SELECTED')
        }
      }),
      { numRuns: 500 },
    )
  })

  test('nothing is offered that is down, disabled, of the other kind of money or without a key; all that was passed over is on record', () => {
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
          expect(input.says.has(name)).toBe(true)
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

  test('a cohort that only looks like a name of ours has no default', () => {
    expect(resolve(given({ kybCohort: 'toString' })).card).toBeNull()
    expect(linksOf(resolve(given({ kybCohort: 'constructor' })), 'card').at(-1)).toEqual(['KYB_COHORT', null, 'NO_MATCH'])
  })
})
