import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { holdDirty } from '../lib/dirty.ts'
import { Refused } from '../lib/refused.ts'
import { c } from '../lib/words/common.ts'
import { Button } from './button.tsx'
import { confirm } from './dialog.tsx'
import { Problem } from './problem.tsx'

/**
 * Sends what is in its fields. A refusal is shown above them and is read at once; what was typed stays.
 * @param onSubmit may throw a Refused, or an Error whose message says what is wrong with what was typed
 * @param dirty whether something was typed that is not sent: asked about before the page is left
 */
export function Form({
  onSubmit,
  submit = c('save'),
  dirty = false,
  danger,
  actions,
  children,
  label,
}: {
  onSubmit: () => unknown
  submit?: string
  dirty?: boolean
  danger?: boolean
  actions?: ComponentChildren
  children: ComponentChildren
  label?: string
}) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const name = useRef(Symbol('form'))
  const top = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const mine = name.current
    holdDirty(mine, dirty)
    return () => holdDirty(mine, false)
  }, [dirty])
  useEffect(() => {
    if (error !== undefined) top.current?.focus()
  }, [error])
  async function send(event: Event): Promise<void> {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
    } catch (refusal) {
      setError(refusal)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={send} aria-label={label} aria-busy={busy}>
      <div ref={top} tabIndex={-1} class="form-problem">
        {error !== undefined && <Problem error={error} />}
      </div>
      {children}
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
 * @returns what `save` answered; undefined when one wants to look at what is there, which `onTheirs` shows
 */
export async function saveVersioned<Answer, Record>(
  etag: string,
  {
    save,
    theirs,
    differences,
    onTheirs,
  }: {
    save: (etag: string | undefined) => Promise<Answer>
    theirs: () => Promise<{ data: Record; etag: string }>
    differences: (theirs: Record) => readonly (readonly [name: string, yours: string, theirs: string])[]
    onTheirs: (now: { data: Record; etag: string }) => void
  },
): Promise<Answer | undefined> {
  let version = etag
  for (;;) {
    try {
      return await save(version || undefined)
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 412) throw error
      const now = await theirs()
      const rows = differences(now.data)
      const mine = await confirm({
        title: c('conflictTitle'),
        action: c('conflictMine'),
        otherwise: c('conflictLook'),
        danger: true,
        body: (
          <>
            <p>{c('conflictText')}</p>
            <table class="compare">
              <thead>
                <tr>
                  <td />
                  <th scope="col">{c('conflictYours')}</th>
                  <th scope="col">{c('conflictTheirs')}</th>
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
      if (!mine) {
        onTheirs(now)
        return undefined
      }
      version = now.etag
    }
  }
}
