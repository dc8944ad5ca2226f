import { useEffect, useRef } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { useDirty } from '../lib/session/use-unsaved-changes.ts'
import { Button } from './button.tsx'
import { CopyableText, copyText } from './copyable-text.tsx'
import { Note } from './note.tsx'

/**
 * Shows a secret once, until the person confirms that they stored it. Leaving asks first; the login hides it.
 * @param secret one text, or several recovery codes
 */
export function SecretOnce({
  title,
  text,
  secret,
  confirmText,
  onConfirm,
}: {
  title: string
  text: string
  secret: string | readonly string[]
  confirmText: string
  onConfirm: () => void
}) {
  const section = useRef<HTMLElement>(null)
  useDirty(true, 'secret')
  useEffect(() => section.current?.focus(), [])
  if (sessionStatus.value === 'locked') return null
  const all = typeof secret === 'string' ? [secret] : secret
  return (
    <section ref={section} class="card" tabIndex={-1} aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <Note tone="warn">{text}</Note>
      {all.length > 1 && (
        <ol class="codes">
          {all.map((secret) => (
            <li key={secret}>
              <code>{secret}</code>
            </li>
          ))}
        </ol>
      )}
      <div class="row">
        {all.length === 1 ? (
          <CopyableText text={all[0] ?? ''} label={title} />
        ) : (
          <Button icon="copy" onPress={() => copyText(all.join('\n'))} text={common('copy')} />
        )}
        <Button kind="primary" onPress={onConfirm} text={confirmText} />
      </div>
    </section>
  )
}
