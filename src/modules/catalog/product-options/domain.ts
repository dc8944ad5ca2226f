/** Options of products, such as size and colour. */
import type { products } from '../../../../db/schema/catalog.ts'
import { invalidField } from '../../../core/errors.ts'

type Options = (typeof products.$inferSelect)['options']
export const optionsMax = 3

/** Normalizes the name or a value of an option, so that two that look the same are the same. */
export const optionText = (text: string): string => text.normalize('NFC').trim()

/** @throws AppError INVALID for repeated names or values */
export function assertOptions(options: Options): void {
  if (options.length > optionsMax) throw invalidField('options', `must have at most ${optionsMax} entries`)
  const names = options.map(({ name }) => name.toLowerCase())
  if (new Set(names).size < names.length) throw invalidField('options', 'must not repeat a name')
  options.forEach(({ values }, at) => {
    if (new Set(values).size < values.length) throw invalidField(`options.${at}.values`, 'must not repeat a value')
  })
}

/** Returns option values as the options write them. Early versions stored them as sent. */
export const alignValues = (optionValues: readonly string[], options: Options): string[] =>
  optionValues.map((value, nth) => {
    const values = options[nth]?.values ?? []
    return values.includes(value) ? value : (values.find((one) => optionText(one) === optionText(value)) ?? optionText(value))
  })

/** Returns options with normal names and values. */
export const normalOptions = (options: Options): Options =>
  options.map(({ name, values }) => ({ name: optionText(name), values: values.map(optionText) }))
