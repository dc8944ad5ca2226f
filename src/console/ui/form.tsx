import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../lib/api/api-error.ts'
import { assignFieldError, createFormFields, FormContext } from '../lib/api/field-errors.ts'
import { common } from '../lib/i18n/common.ts'
import { dismissNotices } from '../lib/live/toasts.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { useDirty } from '../lib/session/use-unsaved-changes.ts'
import { Button } from './button.tsx'
import { ErrorMessage } from './error-message.tsx'

/**
 * A form that is inert while it is sent. An error is shown above the fields and takes the focus; typed values stay.
 * @param onSubmit may throw an ApiError, or an Error about wrong values
 * @param dirty whether leaving the page must ask first
 * @param isEditableWhileSending does not make the fields inert, because `onSubmit` keeps input that is typed meanwhile
 */
export function Form({
  onSubmit,
  submit = common('save'),
  dirty = false,
  danger,
  actions,
  children,
  label,
  isEditableWhileSending = false,
}: {
  onSubmit: () => unknown
  submit?: string
  dirty?: boolean
  danger?: boolean
  actions?: ComponentChildren
  children: ComponentChildren
  label?: string
  isEditableWhileSending?: boolean
}) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [fields] = useState(createFormFields)
  const top = useRef<HTMLDivElement>(null)
  /** The focused element before the fields became inert; it gets the focus back. */
  const focusedBefore = useRef<Element | null>(null)
  useDirty(dirty)
  useEffect(() => {
    if (!isBusy && document.activeElement === document.body && focusedBefore.current instanceof HTMLElement) focusedBefore.current.focus()
  }, [isBusy])
  useEffect(() => {
    if (error !== undefined) top.current?.focus()
  }, [error])
  // A 401 belongs to the previous session.
  useEffect(() => {
    if (sessionStatus.value === 'in' && error instanceof ApiError && error.status === 401) clearError()
  }, [sessionStatus.value])
  function clearError(): void {
    fields.fieldError.value = undefined
    setError(undefined)
  }
  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (isBusy) return
    focusedBefore.current = document.activeElement
    setBusy(true)
    clearError()
    dismissNotices()
    try {
      await onSubmit()
    } catch (cause) {
      setError(assignFieldError(fields, cause))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={send}
      // The browser's own validation replaces an earlier error.
      onInvalidCapture={clearError}
      onInput={() => (fields.fieldError.value = undefined)}
      aria-label={label}
      aria-busy={isBusy}
    >
      <div ref={top} tabIndex={-1} class="form-problem">
        {error !== undefined && <ErrorMessage error={error} />}
      </div>
      <div class="form-fields" inert={isBusy && !isEditableWhileSending}>
        <FormContext.Provider value={fields}>{children}</FormContext.Provider>
      </div>
      <div class="form-actions">
        <Button submit kind={danger ? 'danger' : 'primary'} busy={isBusy} text={submit} />
        {actions}
      </div>
    </form>
  )
}
