/** Which field of a form souk has refused: its refusals name it by its place in the body. */
import { type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useLayoutEffect } from 'preact/hooks'
import { nameOf } from './draft.ts'
import { Refused } from './refused.ts'

type FieldRefusal = { readonly path: string; readonly text: string }

/** What a form and its fields know of each other: how the fields are called, and which of them was refused. */
export type FormFields = { readonly labels: Map<string, string>; readonly refused: Signal<FieldRefusal | undefined> }
export const formFields = (): FormFields => ({ labels: new Map(), refused: signal(undefined) })
export const FormContext = createContext<FormFields | undefined>(undefined)

/** `code` is the field of `data.3.code`; of several rows each says which it is, as `data.3.code`. */
const isOf = (path: string, name: string): boolean => path === name || path.endsWith(`.${name}`)

/**
 * Notes which field a refusal is of, where it names one that the form has.
 * @returns what is to be said of it: in place of souk's name of the field that which one sees
 */
export function noteRefusal({ labels, refused }: FormFields, error: unknown): unknown {
  const [, path, text] = (error instanceof Refused && /^([\w.]+) \(body\): (.+)$/s.exec(error.message)) || []
  const named = path === undefined ? undefined : [...labels].find(([name]) => isOf(path, name))
  refused.value = named && path && text ? { path, text } : undefined
  if (!named || !(error instanceof Refused)) return error
  return new Refused(error.status, `${named[1]}: ${text}`, error.code, error.requestId, error.retryAfter)
}

type Named = { readonly label: string; readonly error?: string | undefined; readonly name?: string | undefined }

/** The same field with what souk has refused of it, until something else is typed. @param bind what it is bound to */
export function useRefusal<Props extends Named>(bind: object, props: Props): Props {
  const form = useContext(FormContext)
  const { label } = props
  const name = props.name ?? nameOf(bind)
  useLayoutEffect(() => {
    if (!form || name === undefined) return
    form.labels.set(name, label)
    return () => void form.labels.delete(name)
  }, [form, name, label])
  const refused = form?.refused.value
  return refused && name !== undefined && !props.error && isOf(refused.path, name) ? { ...props, error: refused.text } : props
}
