import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { TextField } from '../ui/fields.tsx'
import { Note } from '../ui/note.tsx'
import { t } from './i18n.ts'

/** Asks for the code of the second factor. Takes the focus when it appears. */
export function CodeField({ bind }: { bind: Signal<string> }) {
  const container = useRef<HTMLDivElement>(null)
  useEffect(() => container.current?.querySelector('input')?.focus(), [])
  return (
    <div ref={container} class="stack">
      <Note>{t('codeWanted')}</Note>
      <TextField label={t('code')} hint={t('codeHint')} bind={bind} autoComplete="one-time-code" inputMode="text" code required />
    </div>
  )
}
