import { common, notAmount } from '../../lib/i18n/common.ts'
import type { Editor } from './editor.ts'
import { t } from './i18n.ts'

/** Stock as it is by now, by the ids of variants. */
export type Figures = ReadonlyMap<string, { readonly onHand: number; readonly reserved: number }>

/** What is wrong with a field, in words. */
export function wrongOf(editor: Editor, field: string, currency = ''): string | undefined {
  const wrong = editor.wrong.value[field]
  if (wrong === undefined) return undefined
  if (wrong === 'notMoment' || wrong === 'twice') return t(wrong)
  if (wrong === 'empty') return t('emptyValue')
  return wrong === 'notAmount' ? notAmount(currency) : common(wrong)
}
