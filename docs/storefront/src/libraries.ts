/**
 * Libraries of processors whose payments cannot go on without them (docs/storefronts.md says which, and with what). Each is put here by
 * whoever uses that processor, with its origins in the pages' policy: see the README.
 */
import type { Payment } from './ways.ts'

/**
 * Shows the processor's fields in a place of the page and resolves when its library says that the shopper is done. What souk answers
 * afterwards is the proof.
 */
export type Library = (parameters: Payment['clientParameters'], place: HTMLElement) => Promise<void>

export const libraries: Readonly<Record<string, Library>> = {}

const needed = new Set(['stripe', 'checkout'])
/** Whether this storefront can take a payment by a processor to its end. */
export const canFinish = (processor: string): boolean => !needed.has(processor) || Object.hasOwn(libraries, processor)
