import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { isAllowedUrl, linkSchemes } from '../../../lib/html-rules.ts'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../button.tsx'
import { Dialog } from '../dialog.tsx'
import { TextField } from '../fields.tsx'
import { Picture } from '../picture.tsx'
import { Uploads } from '../uploads.tsx'
import type { Editor } from './editor.ts'
import { t } from './i18n.ts'

type DialogProps = { readonly editor: Editor; readonly onClose: () => void }

/** Handles Enter in the fields of a dialog. The form around the editor would be sent instead. */
const Fields = ({ onEnter, children }: { onEnter: () => void; children: ComponentChildren }) => (
  <div
    class="stack"
    onKeyDown={(event) => {
      if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
      event.preventDefault()
      onEnter()
    }}
  >
    {children}
  </div>
)

/** Adds the scheme that a typed address lacks. */
function normalizeUrl(input: string): string {
  const text = input.trim()
  if (/^[^\s@/:]+@[^\s@/]+$/.test(text)) return `mailto:${text}`
  return /^([a-z][a-z\d+.-]*:(?!\d)|[/#?]|$)/i.test(text) ? text : `https://${text}`
}

export function LinkDialog({ editor, onClose }: DialogProps) {
  const [before] = useState(() => editor.openLink())
  const url = useSignal(before)
  const [isWrong, setWrong] = useState(false)
  function apply(): void {
    const href = normalizeUrl(url.value)
    const isAllowed = isAllowedUrl(href, linkSchemes)
    setWrong(!isAllowed)
    if (!isAllowed) return
    onClose()
    editor.setLink(href)
  }
  function remove(): void {
    onClose()
    editor.setLink('')
  }
  return (
    <Dialog title={t('a')} onClose={onClose} focusesField>
      <Fields onEnter={apply}>
        <TextField label={t('url')} bind={url} max={2_000} inputMode="url" code error={isWrong ? t('urlWrong') : undefined} />
        <div class="form-actions">
          <Button kind="primary" onPress={apply} text={t('apply')} />
          {before !== '' && <Button onPress={remove} text={t('removeLink')} />}
        </div>
      </Fields>
    </Dialog>
  )
}

export function PictureDialog({ editor, onClose }: DialogProps) {
  const [before] = useState(() => editor.selectedPicture())
  const src = useSignal(String(before?.['src'] ?? ''))
  const alt = useSignal(String(before?.['alt'] ?? ''))
  function apply(): void {
    if (src.value === '') return
    onClose()
    editor.setPicture({ src: src.value, alt: alt.value.trim() })
  }
  return (
    <Dialog title={t('img')} onClose={onClose}>
      <Fields onEnter={apply}>
        {src.value !== '' && <Picture url={src.value} alt={alt.value} large />}
        <Uploads label={t('upload')} onDone={({ url }) => (src.value = url)} single />
        <TextField label={common('altText')} bind={alt} max={512} hint={t('altHint')} />
        <div class="form-actions">
          <Button kind="primary" disabled={src.value === ''} onPress={apply} text={t('apply')} />
        </div>
      </Fields>
    </Dialog>
  )
}
