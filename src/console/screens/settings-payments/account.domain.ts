/** The form of a processor's account. */
import { modeOfKey } from '../../../lib/processor-keys.ts'
import type { Schema } from '../../lib/api/api.ts'

type Kind = Pick<Schema<'ProcessorFields'>, 'fields' | 'takesMode'>
export type Mode = Schema<'ProcessorAccount'>['mode']
type Body = Schema<'PutProcessorAccount'>

/** What was typed, under its names; what was left empty is left out. */
export function accountBody({ fields, takesMode }: Kind, typed: Readonly<Record<string, string>>, mode: Mode): Body {
  const given = fields.flatMap(({ name }) => {
    const text = typed[name]?.trim() ?? ''
    return text === '' ? [] : [[name, text] as const]
  })
  return { ...Object.fromEntries(given), ...(takesMode ? { mode } : {}) }
}

/** Whose account it will take the place of, as far as that can be told before the processor is asked: for `If-Match`. */
export const modeMeant = ({ takesMode }: Kind, typed: Readonly<Record<string, string>>, mode: Mode): Mode | undefined =>
  takesMode ? mode : modeOfKey(typed['secretKey']?.trim() || typed['publishableKey']?.trim() || '')
