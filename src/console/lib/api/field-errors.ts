/** Which field of a form souk has refused: its refusals name it by its place in the body. */
import { type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useMemo } from 'preact/hooks'
import { nameOf } from '../forms/draft.ts'
import { ApiError } from './api-error.ts'

/** A form's own field: what it is called in the body, and what one sees. */
type Field = { readonly name: string; readonly label: string }
/** What a form and its fields know of each other: which there are, and which of them was refused. */
export type FormFields = {
  readonly fields: Set<Field>
  readonly refused: Signal<{ readonly field: Field; readonly text: string } | undefined>
}
/** Of a form that has none yet. */
export const createFormFields = (): FormFields => ({ fields: new Set(), refused: signal(undefined) })
export const FormContext = createContext<FormFields | undefined>(undefined)

/** `price` is the field of `variants.0.price`, and of its amount, `variants.0.price.amount`. */
function isPathOfField(path: string, name: string): boolean {
  const place = path.replace(/\.(amount|currency)$/, '')
  return [path, place].some((one) => one === name || one.endsWith(`.${name}`))
}

/** Which of several rows a path is of, as one counts them: ` 2.1` of `zones.1.bands.0.price`. */
const rowNumber = (path: string): string => {
  const places = path.match(/(?<=^|\.)\d+(?=\.|$)/g) ?? []
  return places.length === 0 ? '' : ` ${places.map((place) => Number(place) + 1).join('.')}`
}

/**
 * Notes which field a refusal is of, where it names one of the form: of several that are called the same, as in rows, none is marked.
 * @returns what is to be said of it: in place of souk's name of the field that which one sees
 */
export function assignFieldError({ fields, refused }: FormFields, error: unknown): unknown {
  refused.value = undefined
  if (!(error instanceof ApiError)) return error
  const [, path = '', text = ''] = /^([\w.]+) \(body\): (.+)$/s.exec(error.message) ?? []
  const [field, ...others] = [...fields].filter(({ name }) => isPathOfField(path, name))
  if (!field || others.some(({ label }) => label !== field.label)) return error
  if (others.length === 0) refused.value = { field, text }
  const name = others.length === 0 ? field.label : `${field.label}${rowNumber(path)}`
  return new ApiError(error.status, `${name}: ${text}`, error.code, error.requestId, error.retryAfter)
}

type FieldProps = { readonly label: string; readonly error?: string | undefined; readonly name?: string | undefined }

/** The same field with what souk has refused of it, until something else is typed. @param bind what it is bound to */
export function useFieldError<Props extends FieldProps>(bind: object, props: Props): Props {
  const form = useContext(FormContext)
  const { label } = props
  const name = props.name ?? nameOf(bind)
  const field = useMemo(() => (name === undefined ? undefined : { name, label }), [name, label])
  useLayoutEffect(() => {
    if (!form || !field) return
    form.fields.add(field)
    return () => void form.fields.delete(field)
  }, [form, field])
  const refused = form?.refused.value
  return refused?.field === field && refused && !props.error ? { ...props, error: refused.text } : props
}
