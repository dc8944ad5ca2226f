/** The form values of a processor account and its body. */
import { modeOfKey } from '../../../lib/processor-keys.ts'
import type { Schema } from '../../lib/api/api.ts'

type Kind = Pick<Schema<'ProcessorFields'>, 'fields' | 'takesMode'>
export type Mode = Schema<'ProcessorAccount'>['mode']
type Body = Schema<'ProcessorAccountInput'>

/** Builds the body of the filled fields. */
export function accountBody({ fields, takesMode }: Kind, input: Readonly<Record<string, string>>, mode: Mode): Body {
  const filled = fields.flatMap(({ name }) => {
    const text = input[name]?.trim() ?? ''
    return text === '' ? [] : [[name, text] as const]
  })
  return { ...Object.fromEntries(filled), ...(takesMode ? { mode } : {}) }
}

/** Returns the mode of the account that is replaced, for `If-Match`, as far as the keys show it. */
export const expectedMode = ({ takesMode }: Kind, input: Readonly<Record<string, string>>, mode: Mode): Mode | undefined =>
  takesMode ? mode : modeOfKey(input['secretKey']?.trim() || input['publishableKey']?.trim() || '')
