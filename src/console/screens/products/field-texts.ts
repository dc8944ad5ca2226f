import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import type { ProductEditor } from './editor.ts'
import { t } from './i18n.ts'

/** Present stock by variant id. */
export type StockFigures = ReadonlyMap<string, { readonly onHand: number; readonly reserved: number }>

/** Returns a field's error as text. */
export function fieldErrorText(editor: ProductEditor, field: string, currency = ''): string | undefined {
  const wrong = editor.errors.value[field]
  if (wrong === undefined) return undefined
  if (wrong === 'notMoment' || wrong === 'twice') return t(wrong)
  if (wrong === 'empty') return t('emptyValue')
  return wrong === 'notAmount' ? invalidAmountText(currency) : common(wrong)
}
