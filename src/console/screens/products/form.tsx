import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Schema } from '../../lib/api/api.ts'
import { timeZone } from '../../lib/format/format.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TagsField, TextAreaField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { productStatuses } from './columns.tsx'
import type { Editor } from './editor.ts'
import { type Figures, wrongOf } from './field-texts.ts'
import { t } from './i18n.ts'
import { Options } from './options.tsx'
import { PicturesField } from './pictures-field.tsx'
import { Variants } from './variants.tsx'

/** All of a product in one form. @param known the product as it is; undefined for a new one */
export function ProductForm({
  editor,
  figures,
  currency,
  known,
  onSave,
  submit,
}: {
  editor: Editor
  figures: { readonly value: Figures }
  currency: string
  known?: Schema<'Product'>
  onSave: () => Promise<void>
  submit?: string
}) {
  return (
    <div class="long-form">
      <Form onSubmit={onSave} dirty={editor.isDirty.value} label={t('product')} {...(submit !== undefined && { submit })}>
        <div class="columns">
          <div class="stack">
            <Basics editor={editor} />
            <PicturesField editor={editor} />
            <Options editor={editor} />
            <Variants editor={editor} figures={figures} currency={currency} productId={known?.id} />
          </div>
          <div class="stack">
            <Visibility editor={editor} />
            <Organisation editor={editor} isKnown={known !== undefined} />
            <Seo editor={editor} />
          </div>
        </div>
      </Form>
    </div>
  )
}

function Basics({ editor }: { editor: Editor }) {
  const [isPreview, setPreview] = useState(false)
  const { title, descriptionHtml } = editor.base
  return (
    <Section title={t('basics')}>
      <TextField label={t('name')} bind={title} max={255} required error={wrongOf(editor, 'title')} />
      <TextAreaField label={t('description')} bind={descriptionHtml} rows={8} max={65_536} hint={t('descriptionHint')} />
      <div class="row">
        <Button onPress={() => setPreview(!isPreview)}>{isPreview ? common('close') : t('preview')}</Button>
      </div>
      {isPreview && <Described html={descriptionHtml} />}
    </Section>
  )
}

const Described = ({ html }: { html: ReadonlySignal<string> }) =>
  html.value.trim() === '' ? <p class="faint">{t('noDescription')}</p> : <HtmlPreview html={html.value} label={t('preview')} />

function Visibility({ editor }: { editor: Editor }) {
  const { status, showing, publishedAt } = editor.base
  const isActive = status.value === 'ACTIVE'
  // Of one that is not active souk keeps no word that it is never to be shown.
  useEffect(() => {
    if (!isActive && showing.peek() === 'never') showing.value = 'auto'
  }, [isActive, showing.value])
  return (
    <Section title={t('visibility')}>
      <SelectField
        label={common('status')}
        bind={status}
        options={productStatuses.map((one) => [one, stateName(one)] as const)}
        hint={t('statusHint')}
      />
      <SelectField
        label={t('showing')}
        bind={showing}
        options={[['auto', t('showing.auto')], ['at', t('showing.at')], ...(isActive ? [['never', t('showing.never')] as const] : [])]}
      />
      {showing.value === 'at' && (
        <TextField
          label={t('publishedAt')}
          bind={publishedAt}
          type="datetime-local"
          hint={t('publishedHint', { zone: timeZone() })}
          error={wrongOf(editor, 'publishedAt')}
        />
      )}
    </Section>
  )
}

function Organisation({ editor, isKnown }: { editor: Editor; isKnown: boolean }) {
  const { vendor, type, handle } = editor.base
  return (
    <Section title={t('organisation')}>
      <TextField label={t('vendor')} bind={vendor} max={255} />
      <TextField label={t('type')} bind={type} max={255} />
      <TagsField label={t('tags')} bind={editor.base.tags} max={250} />
      <TextField
        label={t('handle')}
        bind={handle}
        max={255}
        code
        hint={isKnown ? t('handleKnownHint') : t('handleHint')}
        error={wrongOf(editor, 'handle')}
      />
    </Section>
  )
}

const Seo = ({ editor }: { editor: Editor }) => (
  <Section title={t('seo')}>
    <TextField label={t('seoTitle')} bind={editor.base.seoTitle} max={255} />
    <TextAreaField label={t('seoDescription')} bind={editor.base.seoDescription} rows={3} max={1_000} />
  </Section>
)
