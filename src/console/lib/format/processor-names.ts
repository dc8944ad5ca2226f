import { isProcessorName, processorFacts } from '../../../lib/processors.ts'
import { common } from '../i18n/common.ts'

/** Returns the brand name of a processor; of the sandbox and of manual payments the name in the current language. */
export function processorName(name: string): string {
  if (isProcessorName(name)) return processorFacts[name].title
  if (name === 'manual') return common('manualPayment')
  return name === 'sandbox' ? common('sandbox') : name
}
