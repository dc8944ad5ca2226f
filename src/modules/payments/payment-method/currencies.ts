/** The currencies that each processor can say some amount of (processors.md, section 1). Which amounts, its client's capabilities say. */
import { currencies, isCurrency } from '../../../lib/money.ts'
import { type ProcessorName, processorNames } from './domain.ts'

/** Whether a processor can say amounts of a currency. */
export type SaysCurrency = Readonly<Record<ProcessorName, (currency: string) => boolean>>
/** The processors that can say amounts of a currency; none for what is none. */
export type ProcessorsSaying = (currency: string) => ReadonlySet<ProcessorName>

const nobody: ReadonlySet<ProcessorName> = new Set()

/** Asks each processor once about each currency: payment pages are told without asking again. */
export function processorsSayingBy(says: SaysCurrency): ProcessorsSaying {
  const byCurrency: ReadonlyMap<string, ReadonlySet<ProcessorName>> = new Map(
    currencies.filter(isCurrency).map((currency) => [currency, new Set(processorNames.filter((name) => says[name](currency)))]),
  )
  return (currency) => byCurrency.get(currency) ?? nobody
}
