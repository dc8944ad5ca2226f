/** Payment methods and processors: names and tables, without clients. */
import {
  type CardProcessor,
  cardProcessors,
  isProcessorName,
  type ProcessorName,
  processorFacts,
  processorNames,
} from '../../../lib/processors.ts'

export { type CardProcessor, cardProcessors, isProcessorName, type ProcessorName, processorNames }

export const methods = ['card', 'paypal', 'crypto', 'wallet'] as const
export type Method = (typeof methods)[number]

/** A shop's configuration. A missing method is decided by the next step; a disabled one stays off. */
export type ShopMethods = {
  readonly card?: { readonly enabled: boolean; readonly processor?: CardProcessor; readonly publishableKey?: string }
  readonly paypal?: { readonly enabled: boolean; readonly clientId?: string }
  readonly crypto?: { readonly enabled: boolean }
  readonly wallet?: { readonly enabled: boolean; readonly tokenProvider?: CardProcessor; readonly merchantIdentifier?: string }
  readonly manual?: ManualMethod[]
}

/** A payment that the shop receives outside souk, such as a bank transfer or cash on delivery, and marks as paid. */
export type ManualMethod = {
  readonly code: string
  readonly title: string
  /** Plain text for the shopper: how to pay. */
  readonly instructions: string
  /** How long an order waits for the payment. */
  readonly expiresAfterDays: number
}
export const manualMethodsMax = 5
export const manualTitleMax = 100
export const instructionsMax = 2_000
export const expiresAfterDaysMax = 90

/** Returns whether a processor takes Apple Pay and Google Pay tokens. */
export const takesWallets = (name: ProcessorName): boolean => processorFacts[name].takesWallets

/** The default card processor by the cohort of an approved KYB record. */
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

export { looksLikeSecret } from '../../../lib/processor-keys.ts'

/** A shop belongs to at most one. */
export type Partnership = { readonly name: string; readonly defaultCardProcessor: CardProcessor; readonly shopIds: string[] }

export const partnershipsMax = 1_000
/** In all partnerships together: what fits a body of a megabyte. */
export const partnershipShopsMax = 20_000

/** An operator's actions on a processor. */
export const breakerActions = ['isolate', 'restore'] as const
export type BreakerAction = (typeof breakerActions)[number]

/** The steps of the resolver and their results. */
export const steps = ['SHOP_CONFIG', 'PARTNERSHIP', 'KYB_COHORT', 'BREAKER', 'PUBLISHABLE_KEY'] as const
export const outcomes = ['SELECTED', 'DISABLED', 'NO_MATCH', 'SKIPPED_OPEN', 'NO_KEY', 'NO_CURRENCY'] as const
