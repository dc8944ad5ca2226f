import { isProcessorName, processorFacts } from '../../../lib/processors.ts'

/** Brand names of processors, the same in every language. */
export const processorName = (name: string): string =>
  isProcessorName(name) ? processorFacts[name].title : name === 'sandbox' ? 'Sandbox' : name
