/** What souk refuses of a form, in the words of the form. */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/console/lib/api/api-error.ts'
import { assignFieldError, createFormFields } from '../../src/console/lib/api/field-errors.ts'

const refusal = (message: string) => new ApiError(400, message, undefined, 'req_1', null, /^[\w.]+(?=: )/.exec(message)?.[0])
const formOf = (...fields: readonly (readonly [name: string, label: string])[]) => {
  const form = createFormFields()
  for (const [name, label] of fields) form.fields.add({ name, label })
  return form
}
const said = (form: ReturnType<typeof createFormFields>, message: string) => (assignFieldError(form, refusal(message)) as Error).message

describe('a refusal', () => {
  test('of one field is said by its label, and marks it', () => {
    const form = formOf(['title', 'Title'], ['price', 'Price (USD)'])
    expect(said(form, 'price.amount: must be a whole number')).toBe('Price (USD): must be a whole number')
    expect(form.refused.value).toMatchObject({ field: { name: 'price' }, text: 'must be a whole number' })
    expect(said(form, 'Busy')).toBe('Busy')
    expect(form.refused.value).toBeUndefined()
  })

  test('of one of several rows says which, and marks none', () => {
    const form = formOf(['price', 'Price'], ['price', 'Price'], ['name', 'Name'])
    expect(said(form, 'lines.1.price: must be an amount')).toBe('Price 2: must be an amount')
    expect(said(form, 'zones.1.bands.0.price.amount: Too much')).toBe('Price 2.1: Too much')
    expect(form.refused.value).toBeUndefined()
  })

  test('of one of several that one sees under other names is left as it is', () => {
    const form = formOf(['name', 'Name of the zone'], ['name', 'Name of the way'])
    expect(said(form, 'zones.1.name: Too long')).toBe('zones.1.name: Too long')
  })
})
