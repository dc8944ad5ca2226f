/**
 * Libraries of processors that need one (see docs/storefronts.md). To use such a processor, add its library here and
 * its origins to the content security policy: see the README.
 */
import type { Payment } from './payment-methods.ts'

/**
 * Shows the processor's fields and resolves when its library reports that the shopper is done. Only souk's next
 * response proves the payment.
 */
export type Library = (parameters: Payment['clientParameters'], place: HTMLElement) => Promise<void>

export const libraries: Readonly<Record<string, Library>> = {}

const needed = new Set(['stripe', 'checkout'])
/** Whether this storefront can complete payments of a processor. */
export const canFinish = (processor: string): boolean => !needed.has(processor) || Object.hasOwn(libraries, processor)
