import { useEffect, useRef } from 'preact/hooks'
import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { type Language, languages } from '../../lib/i18n/catalog.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { confirm, FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { ResourceView } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'
import { isEdited, type Template, type TemplateTexts, templateTextsBody, textsOfTemplate } from './mail.domain.ts'

type MailTexts = Schema<'MailTexts'>
type Subject = { readonly template: Template; readonly language: Language }

const route = '/shops/v2/mail/templates/{template}/{language}'

/** Edits the texts of a template in a language. */
export function TextsDialog({ template, language, onClose, onDone }: Subject & { onClose: () => void; onDone: () => void }) {
  const path = { template, language }
  const texts = useResource(`${template} ${language}`, (signal) => readVersioned(api.GET(route, { params: { path }, signal })))
  return (
    <FormDialog title={t('editTextsOf', { mail: t(`of.${template}`), language: languages[language] })} onClose={onClose} wide>
      <ResourceView resource={texts} lines={8}>
        {(current) => <TextsForm current={current} resource={texts} path={path} onDone={onDone} />}
      </ResourceView>
    </FormDialog>
  )
}

/** Returns the texts as rows, for conflicts. */
const textRows = ({ subject, intro, closing }: TemplateTexts): readonly (readonly [string, string])[] => [
  [t('subject'), subject],
  [t('intro'), intro],
  [t('closing'), closing],
]

function TextsForm({
  current,
  resource,
  path,
  onDone,
}: {
  current: Versioned<MailTexts>
  resource: Resource<Versioned<MailTexts>>
  path: Subject
  onDone: () => void
}) {
  const { data } = current
  const editor = useRecordEditor(resource, current, textsOfTemplate)
  const firstField = useRef<HTMLDivElement>(null)
  // The dialog opened before the field existed.
  useEffect(() => firstField.current?.querySelector('input')?.focus(), [])
  async function reset(): Promise<void> {
    if (await confirm({ title: t('resetTitle'), action: t('reset'), danger: true })) await save(true)
  }
  /** @param isReset deletes the shop's texts instead of storing the typed ones */
  async function save(isReset: boolean): Promise<void> {
    const input = editor.values()
    const params = (version: string | undefined) => ({ params: { path, header: ifMatch(version) } })
    const saved = await editor.save({
      save: (version) =>
        readVersioned<MailTexts>(
          isReset
            ? api.DELETE(route, params(version))
            : api.PUT(route, { ...params(version), body: templateTextsBody(input, data.defaults) }),
        ),
      differences: (theirs) => diffRows(textRows(input), textRows(textsOfTemplate(theirs))),
    })
    if (!saved) return
    notify(common('saved'))
    onDone()
  }
  const { fields } = editor
  return (
    <Form
      onSubmit={() => save(false)}
      dirty={editor.isDirty}
      label={t('editTexts')}
      actions={isEdited(data) && <Button onPress={reset} text={t('reset')} />}
    >
      <p class="hint">
        {t('placeholders')} <code dir="ltr">{data.placeholders.map((name) => `{{${name}}}`).join(' ')}</code>
      </p>
      <div ref={firstField}>
        <TextField bind={fields.subject} label={t('subject')} max={200} />
      </div>
      <TextAreaField bind={fields.intro} label={t('intro')} max={5_000} hint={t('introHint')} />
      <TextAreaField bind={fields.closing} label={t('closing')} max={5_000} hint={t('closingHint')} />
    </Form>
  )
}
