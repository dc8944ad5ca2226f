/** The currencies that each processor supports (processors.md, section 1). Its client decides about amounts. */
import { currencies, isCurrency } from '../../../lib/money.ts'
import { type ProcessorName, processorNames } from './domain.ts'

/** Whether a processor supports a currency. */
export type SaysCurrency = Readonly<Record<ProcessorName, (currency: string) => boolean>>
/** Returns the processors that support a currency; none for an unknown one. */
export type ProcessorsSaying = (currency: string) => ReadonlySet<ProcessorName>

const nobody: ReadonlySet<ProcessorName> = new Set()

/** Builds the table once, so that payment pages need no computation. */
export function processorsSayingBy(says: SaysCurrency): ProcessorsSaying {
  const byCurrency: ReadonlyMap<string, ReadonlySet<ProcessorName>> = new Map(
    currencies.filter(isCurrency).map((currency) => [currency, new Set(processorNames.filter((name) => says[name](currency)))]),
  )
  return (currency) => byCurrency.get(currency) ?? nobody
}
