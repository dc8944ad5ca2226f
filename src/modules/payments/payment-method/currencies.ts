/** The currencies that each processor supports. The processor's client checks amounts. */

import { processors } from '../../../clients/processors/index.ts'
import { currencies, isCurrency } from '../../../lib/money.ts'
import { type ProcessorName, processorNames } from './domain.ts'

/** Returns the processors that support a currency; none for an unknown one. */
type ProcessorsSupporting = (currency: string) => ReadonlySet<ProcessorName>

const nobody: ReadonlySet<ProcessorName> = new Set()

const byCurrency: ReadonlyMap<string, ReadonlySet<ProcessorName>> = new Map(
  currencies
    .filter(isCurrency)
    .map((currency) => [currency, new Set(processorNames.filter((name) => processors[name].supportsCurrency(currency)))]),
)
/** Returns the processors that support a currency; none for an unknown one. */
export const processorsSupporting: ProcessorsSupporting = (currency) => byCurrency.get(currency) ?? nobody
