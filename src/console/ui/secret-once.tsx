import { useEffect, useRef } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { standing } from '../lib/session/session.ts'
import { useDirty } from '../lib/session/use-unsaved-changes.ts'
import { Copyable, copy, Note } from './bits.tsx'
import { Button } from './button.tsx'

/**
 * What is shown once and never again, until somebody says that they have it: the page asks before it is left with it. While the login stands
 * before the page it is in memory alone.
 * @param secret one text, or several such as recovery codes
 */
export function Once({
  title,
  text,
  secret,
  kept,
  onKept,
}: {
  title: string
  text: string
  secret: string | readonly string[]
  kept: string
  onKept: () => void
}) {
  const box = useRef<HTMLElement>(null)
  useDirty(true, 'shown once')
  useEffect(() => box.current?.focus(), [])
  if (standing.value === 'locked') return null
  const all = typeof secret === 'string' ? [secret] : secret
  return (
    <section ref={box} class="card" tabIndex={-1} aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Note tone="warn">{text}</Note>
      {all.length > 1 && (
        <ol class="codes">
          {all.map((one) => (
            <li key={one}>
              <code>{one}</code>
            </li>
          ))}
        </ol>
      )}
      <div class="row">
        {all.length === 1 ? (
          <Copyable text={all[0] ?? ''} label={title} />
        ) : (
          <Button icon="copy" onPress={() => copy(all.join('\n'))}>
            {common('copy')}
          </Button>
        )}
        <Button kind="primary" onPress={onKept}>
          {kept}
        </Button>
      </div>
    </section>
  )
}
