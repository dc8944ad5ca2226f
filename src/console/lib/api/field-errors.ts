/** Assigns an API error to the form field that it names. */
import { type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useMemo } from 'preact/hooks'
import { fieldName } from '../forms/draft.ts'
import { ApiError } from './api-error.ts'

/** A form field: its name in the request body and its label. */
type Field = { readonly name: string; readonly label: string }
/** The fields of a form and the one with an API error. */
type FormFields = {
  readonly fields: Set<Field>
  readonly fieldError: Signal<{ readonly field: Field; readonly text: string } | undefined>
}
/** Creates the state of a form. Its fields register themselves when they are drawn. */
export const createFormFields = (): FormFields => ({ fields: new Set(), fieldError: signal(undefined) })
export const FormContext = createContext<FormFields | undefined>(undefined)

/** Returns whether a path names a field. `price` matches `variants.0.price` and `variants.0.price.amount`. */
function isPathOfField(path: string, name: string): boolean {
  const basePath = path.replace(/\.(amount|currency)$/, '')
  return [path, basePath].some((fieldPath) => fieldPath === name || fieldPath.endsWith(`.${name}`))
}

/** Returns the row number of a path, counted from 1: ` 2.1` for `zones.1.bands.0.price`. */
const rowNumber = (path: string): string => {
  const indexes = path.match(/(?<=^|\.)\d+(?=\.|$)/g) ?? []
  return indexes.length === 0 ? '' : ` ${indexes.map((index) => Number(index) + 1).join('.')}`
}

/**
 * Marks the field that an error names. If several fields share the name, as in rows, none is marked.
 * @returns the error with the field's label instead of its API name
 */
export function assignFieldError({ fields, fieldError }: FormFields, error: unknown): unknown {
  fieldError.value = undefined
  if (!(error instanceof ApiError) || error.field === undefined) return error
  const path = error.field
  const text = error.message.startsWith(`${path}: `) ? error.message.slice(path.length + 2) : error.message
  const [field, ...others] = [...fields].filter(({ name }) => isPathOfField(path, name))
  if (!field || others.some(({ label }) => label !== field.label)) return error
  if (others.length === 0) fieldError.value = { field, text }
  const name = others.length === 0 ? field.label : `${field.label}${rowNumber(path)}`
  return new ApiError(error.status, `${name}: ${text}`, error.code, error.requestId, error.retryAfter, path)
}

type FieldProps = { readonly label: string; readonly error?: string | undefined; readonly name?: string | undefined }

/**
 * Adds an API error to the props of a field, until its value changes.
 * @param bind the field's signal
 */
export function useFieldError<Props extends FieldProps>(bind: object, props: Props): Props {
  const form = useContext(FormContext)
  const { label } = props
  const name = props.name ?? fieldName(bind)
  const field = useMemo(() => (name === undefined ? undefined : { name, label }), [name, label])
  useLayoutEffect(() => {
    if (!form || !field) return
    form.fields.add(field)
    return () => void form.fields.delete(field)
  }, [form, field])
  const fieldError = form?.fieldError.value
  return fieldError?.field === field && fieldError && !props.error ? { ...props, error: fieldError.text } : props
}
