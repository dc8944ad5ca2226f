/** Tests the messages of a form for errors of souk. */
import { describe, expect, test } from 'bun:test'
import { ApiError } from '../../src/console/lib/api/api-error.ts'
import { assignFieldError, createFormFields } from '../../src/console/lib/api/field-errors.ts'

const refusal = (message: string) => new ApiError(400, message, undefined, 'req_1', null, /^[\w.]+(?=: )/.exec(message)?.[0])
const formOf = (...fields: readonly (readonly [name: string, label: string])[]) => {
  const form = createFormFields()
  for (const [name, label] of fields) form.fields.add({ name, label })
  return form
}
const messageOf = (form: ReturnType<typeof createFormFields>, message: string) =>
  (assignFieldError(form, refusal(message)) as Error).message

describe('a refusal', () => {
  test('of one field is shown with its label, and marks the field', () => {
    const form = formOf(['title', 'Title'], ['price', 'Price (USD)'])
    expect(messageOf(form, 'price.amount: must be a whole number')).toBe('Price (USD): must be a whole number')
    expect(form.fieldError.value).toMatchObject({ field: { name: 'price' }, text: 'must be a whole number' })
    expect(messageOf(form, 'Busy')).toBe('Busy')
    expect(form.fieldError.value).toBeUndefined()
  })

  test('of one of several rows names the row, and marks no field', () => {
    const form = formOf(['price', 'Price'], ['price', 'Price'], ['name', 'Name'])
    expect(messageOf(form, 'lines.1.price: must be an amount')).toBe('Price 2: must be an amount')
    expect(messageOf(form, 'zones.1.bands.0.price.amount: Too much')).toBe('Price 2.1: Too much')
    expect(form.fieldError.value).toBeUndefined()
  })

  test('of one of several fields with different labels is unchanged', () => {
    const form = formOf(['name', 'Name of the zone'], ['name', 'Name of the way'])
    expect(messageOf(form, 'zones.1.name: Too long')).toBe('zones.1.name: Too long')
  })
})
