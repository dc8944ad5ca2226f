/** Which ways to pay a shop offers, and what of them may be used: names and tables, without a processor's client. */

/** Those that take cards on the shopper's page, or what stands for cards where they are (Mongolia's QR codes). */
export const cardProcessors = ['stripe', 'tap', 'qpay', 'checkout'] as const
export type CardProcessor = (typeof cardProcessors)[number]

/** Those of the world outside. The sandbox is not one. */
export const processorNames = [...cardProcessors, 'paypal', 'btcpay'] as const
export type ProcessorName = (typeof processorNames)[number]
export const isProcessorName = (name: string): name is ProcessorName => (processorNames as readonly string[]).includes(name)

export const methods = ['card', 'paypal', 'crypto', 'wallet'] as const
export type Method = (typeof methods)[number]

/** What a shop says of its methods. One that is left out falls to the next step; one that is disabled stays off. */
export type ShopMethods = {
  readonly card?: { readonly enabled: boolean; readonly processor?: CardProcessor; readonly publishableKey?: string }
  readonly paypal?: { readonly enabled: boolean; readonly clientId?: string }
  readonly crypto?: { readonly enabled: boolean }
  readonly wallet?: { readonly enabled: boolean; readonly tokenProvider?: CardProcessor; readonly merchantIdentifier?: string }
}

/** Those that take the tokens of Apple Pay and Google Pay. */
export const walletProcessors: readonly CardProcessor[] = ['stripe', 'tap', 'checkout']
export const takesWallets = (name: ProcessorName): boolean => (walletProcessors as readonly ProcessorName[]).includes(name)

/** The card processor of a region, by the cohort of an approved KYB record (specification: resolution order, step 3). */
export const cohortDefaults: ReadonlyMap<string, CardProcessor> = new Map(
  Object.entries({
    UAE_MAINLAND: 'tap',
    UAE_FREEZONE: 'tap',
    KSA_COMPANY: 'tap',
    KUWAIT_WLL: 'tap',
    MN_LLC: 'qpay',
    MN_SOLE: 'qpay',
    US_COMPANY: 'stripe',
    US_SOLE_PROP: 'stripe',
  } as const),
)

export { looksSecret, modeOfKey } from '../../../lib/processor-keys.ts'

/** A shop belongs to one at most. */
export type Partnership = { readonly name: string; readonly defaultCardProcessor: CardProcessor; readonly shopIds: string[] }

export const partnershipsMax = 1_000
/** Of all partnerships together: as many as a body of a megabyte holds. */
export const partnershipShopsMax = 20_000

/** What an operator does to a processor by hand. */
export const breakerActions = ['isolate', 'restore'] as const
export type BreakerAction = (typeof breakerActions)[number]

/** What the resolver looks at, and what may come of it. */
export const steps = ['SHOP_CONFIG', 'PARTNERSHIP', 'KYB_COHORT', 'BREAKER', 'PUBLISHABLE_KEY'] as const
export const outcomes = ['SELECTED', 'DISABLED', 'NO_MATCH', 'SKIPPED_OPEN', 'NO_KEY', 'NO_CURRENCY'] as const
