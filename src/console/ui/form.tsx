import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../lib/api/api-error.ts'
import { assignFieldError, createFormFields, FormContext } from '../lib/api/field-errors.ts'
import type { Resource } from '../lib/api/resource.ts'
import { diffExcerpts } from '../lib/format/truncate.ts'
import type { RecordDraft, Versioned } from '../lib/forms/use-draft.ts'
import { common } from '../lib/i18n/common.ts'
import { dismissNotices } from '../lib/live/toasts.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { useDirty } from '../lib/session/use-unsaved-changes.ts'
import { Button } from './button.tsx'
import { askChoice } from './dialog.tsx'
import { ErrorMessage } from './error-message.tsx'

/**
 * Sends what is in its fields, which are held until it is known what became of it. A refusal is shown above them and is read at once; what was
 * typed stays.
 * @param onSubmit may throw a Refused, or an Error whose message says what is wrong with what was typed
 * @param dirty whether something was typed that is not sent: asked about before the page is left
 * @param keepsTyping its fields are not held, since `onSubmit` leaves in them what was typed meanwhile (`saved` of a draft)
 */
export function Form({
  onSubmit,
  submit = common('save'),
  dirty = false,
  danger,
  actions,
  children,
  label,
  keepsTyping = false,
}: {
  onSubmit: () => unknown
  submit?: string
  dirty?: boolean
  danger?: boolean
  actions?: ComponentChildren
  children: ComponentChildren
  label?: string
  keepsTyping?: boolean
}) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [fields] = useState(createFormFields)
  const top = useRef<HTMLDivElement>(null)
  /** What had the keyboard when the fields were held: it has it again. */
  const before = useRef<Element | null>(null)
  useDirty(dirty)
  useEffect(() => {
    if (!busy && document.activeElement === document.body && before.current instanceof HTMLElement) before.current.focus()
  }, [busy])
  useEffect(() => {
    if (error !== undefined) top.current?.focus()
  }, [error])
  // Of a session that is over it was refused; whoever is in again has another one.
  useEffect(() => {
    if (sessionStatus.value === 'in' && error instanceof ApiError && error.status === 401) clearError()
  }, [sessionStatus.value])
  function clearError(): void {
    fields.refused.value = undefined
    setError(undefined)
  }
  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (busy) return
    before.current = document.activeElement
    setBusy(true)
    clearError()
    dismissNotices()
    try {
      await onSubmit()
    } catch (refusal) {
      setError(assignFieldError(fields, refusal))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={send}
      // The browser has something to say first: what was refused before is no longer what keeps it.
      onInvalidCapture={clearError}
      onInput={() => {
        fields.refused.value = undefined
      }}
      aria-label={label}
      aria-busy={busy}
    >
      <div ref={top} tabIndex={-1} class="form-problem">
        {error !== undefined && <ErrorMessage error={error} />}
      </div>
      <div class="held" inert={busy && !keepsTyping}>
        <FormContext.Provider value={fields}>{children}</FormContext.Provider>
      </div>
      <div class="form-actions">
        <Button submit kind={danger ? 'danger' : 'primary'} busy={busy}>
          {submit}
        </Button>
        {actions}
      </div>
    </form>
  )
}

/**
 * Saves a record by `If-Match`. Where somebody was faster, it says so and shows both; then one may look at theirs, or save over it.
 * @param save sends with that version; undefined sends without
 * @param theirs reads what is there now
 * @param differences of the two, as names and texts
 * @param isSame whether all that this changes stands there as it was when one began: then the other version is none to ask about
 * @param done what is there, where all that this changes stands in it is to be: an earlier try whose answer was lost has done it, or somebody else
 * @param removes whether `save` takes the record away
 * @returns what `save` answered, or what `done` did; undefined when one wants to look at what is there, which `onTheirs` shows, or closes the question: then nothing
 *   was sent, and what was typed is to stay
 */
export async function saveVersioned<Answer, Record>(
  etag: string,
  {
    save,
    theirs,
    differences,
    onTheirs,
    isSame = () => false,
    done = () => undefined,
    removes = false,
  }: {
    save: (etag: string | undefined) => Promise<Answer>
    theirs: () => Promise<{ data: Record; etag: string }>
    differences: (theirs: Record) => readonly (readonly [name: string, yours: string, theirs: string])[]
    onTheirs: (now: { data: Record; etag: string }) => void
    isSame?: (theirs: Record) => boolean
    done?: (now: { data: Record; etag: string }) => Answer | undefined
    removes?: boolean
  },
): Promise<Answer | undefined> {
  let version = etag
  for (;;) {
    try {
      return await save(version || undefined)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error
      const now = await theirs()
      // Refused in the very version that is there, it would be so for ever.
      if (now.etag !== version && isSame(now.data)) {
        version = now.etag
        continue
      }
      const made = now.etag === version ? undefined : done(now)
      if (made) return made
      const rows = differences(now.data).map(([name, yours, there]) => [name, ...diffExcerpts(yours, there)] as const)
      const chosen = await askChoice({
        title: common('conflictTitle'),
        action: common(removes ? 'remove' : 'conflictMine'),
        otherwise: common('conflictLook'),
        danger: true,
        body: (
          <>
            <p>{common(removes ? 'conflictRemoval' : 'conflictText')}</p>
            <table class="compare">
              <thead>
                <tr>
                  <td />
                  <th scope="col">{common('conflictYours')}</th>
                  <th scope="col">{common('conflictTheirs')}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(([name, yours, there]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>
                      <bdi>{yours}</bdi>
                    </td>
                    <td>
                      <bdi>{there}</bdi>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        ),
      })
      if (chosen !== 'action') {
        if (chosen === 'otherwise') onTheirs(now)
        return undefined
      }
      version = now.etag
    }
  }
}

/**
 * Saves over the record that a page shows: what is there afterwards is shown, and what was typed while it was under way stays.
 * @param shown where the record is read
 * @param draft the form that the change comes from; undefined where none has it
 * @param how as of `saveVersioned`
 * @returns whether it was saved
 */
export async function saveRecord<Data, Typed extends object>(
  shown: Pick<Resource<Versioned<Data>>, 'put'>,
  etag: string,
  draft: Pick<RecordDraft<Data, Typed>, 'now' | 'isSame' | 'isAs' | 'take' | 'saved'> | undefined,
  how: Pick<Parameters<typeof saveVersioned<Versioned<Data>, Data>>[1], 'save' | 'theirs' | 'differences'>,
): Promise<boolean> {
  const sent = draft?.now()
  const saved = await saveVersioned<Versioned<Data>, Data>(etag, {
    ...how,
    onTheirs(now) {
      draft?.take(now)
      shown.put(now)
    },
    ...(draft && sent && { isSame: draft.isSame, done: (now: Versioned<Data>) => (draft.isAs(now.data, sent) ? now : undefined) }),
  })
  if (!saved) return false
  if (sent) draft?.saved(saved, sent)
  shown.put(saved)
  return true
}
