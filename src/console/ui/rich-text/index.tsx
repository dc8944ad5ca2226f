import type { Signal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useFieldError } from '../../lib/api/field-errors.ts'
import { directionOf } from '../../lib/format/direction.ts'
import { useLengthLimit } from '../../lib/forms/use-length-limit.ts'
import { common } from '../../lib/i18n/common.ts'
import { confirm } from '../dialog.tsx'
import { descriptionIds, FieldFrame, type FieldProps } from '../fields.tsx'
import { LinkDialog, PictureDialog } from './dialogs.tsx'
import type { Editor } from './editor.ts'
import { t } from './i18n.ts'
import { Toolbar } from './toolbar.tsx'

type Module = typeof import('./editor.ts')
type HtmlFieldProps = FieldProps & { readonly bind: Signal<string>; readonly rows?: number; readonly max: number }

/**
 * A field for HTML: an editor, or the HTML itself. Text that the editor would change stays HTML until the person
 * decides. The bound value keeps its bytes until something changes.
 */
export function HtmlField({ bind, rows = 8, max, ...props }: HtmlFieldProps) {
  const id = useId()
  const field = useFieldError(bind, props)
  const { cutAt, onPaste } = useLengthLimit(bind, max)
  const [module, setModule] = useState<Module>()
  const [isSource, setSource] = useState(false)
  const [lostNames, setLost] = useState<readonly string[]>([])
  const checkedHtml = useRef<string | undefined>(undefined)
  useEffect(() => {
    import('./editor.ts').then(setModule, () => setSource(true))
  }, [])
  const html = bind.value
  // Also when another value was loaded, as after a conflict.
  useLayoutEffect(() => {
    if (!module || isSource || checkedHtml.current === html) return
    const names = module.lossOfHtml(html)
    checkedHtml.current = html
    setLost(names)
    setSource(names.length > 0)
  }, [module, html, isSource])

  async function toggle(): Promise<void> {
    const names = isSource && module ? module.lossOfHtml(bind.peek()) : []
    const question = { title: t('lostTitle'), body: <p>{t('lost', { names: names.join(', ') })}</p>, action: t('switch'), danger: true }
    if (names.length > 0 && !(await confirm(question))) return
    checkedHtml.current = bind.peek()
    setLost([])
    setSource(!isSource)
  }
  const ariaProps = {
    'aria-invalid': field.error ? true : undefined,
    'aria-describedby': descriptionIds(id, field),
  } as const
  const note = lostNames.length > 0 ? t('lost', { names: lostNames.join(', ') }) : undefined
  return (
    <FieldFrame id={id} {...field} cutAt={cutAt}>
      <div class="editor">
        <button type="button" class="editor-source" aria-pressed={isSource} disabled={!module} onClick={toggle}>
          {t('html')}
        </button>
        {note && (
          <p class="hint" role="status">
            {note}
          </p>
        )}
        {isSource ? (
          <textarea
            id={id}
            rows={rows}
            value={html}
            onPaste={onPaste}
            maxLength={max}
            dir={directionOf(html)}
            onInput={({ currentTarget }) => (bind.value = currentTarget.value)}
            {...ariaProps}
          />
        ) : module ? (
          <VisualEditor module={module} bind={bind} id={id} checkedHtml={checkedHtml} ariaProps={ariaProps} />
        ) : (
          <div class="skeleton" role="status" aria-label={common('loading')} />
        )}
      </div>
    </FieldFrame>
  )
}

type VisualProps = {
  readonly module: Module
  readonly bind: Signal<string>
  readonly id: string
  /** The HTML whose loss was checked; the editor's own changes lose nothing. */
  readonly checkedHtml: { current: string | undefined }
  readonly ariaProps: { readonly 'aria-invalid': true | undefined; readonly 'aria-describedby': string | undefined }
}

function VisualEditor({ module, bind, id, checkedHtml, ariaProps }: VisualProps) {
  const mount = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<Editor>()
  const [, redraw] = useState(0)
  const [dialog, setDialog] = useState<'a' | 'img'>()
  useLayoutEffect(() => {
    if (!mount.current) return
    const handleChange = (html: string) => {
      checkedHtml.current = html
      bind.value = html
    }
    const newEditor = module.createEditor(mount.current, handleChange, () => redraw((count) => count + 1))
    newEditor.load(bind.peek())
    setEditor(newEditor)
    return () => newEditor.destroy()
  }, [])
  const html = bind.value
  useLayoutEffect(() => {
    if (editor && editor.html() !== html) editor.load(html)
  }, [html])
  const close = () => setDialog(undefined)
  return (
    <>
      {editor && <Toolbar editor={editor} id={id} onOpen={setDialog} />}
      <div
        ref={mount}
        id={id}
        class="editor-text"
        role="textbox"
        aria-multiline="true"
        aria-labelledby={`${id}-label`}
        tabIndex={0}
        dir={directionOf(html)}
        {...ariaProps}
      />
      {editor && dialog === 'a' && <LinkDialog editor={editor} onClose={close} />}
      {editor && dialog === 'img' && <PictureDialog editor={editor} onClose={close} />}
    </>
  )
}
