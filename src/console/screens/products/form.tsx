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
import { HtmlField } from '../../ui/rich-text/index.tsx'
import { CollectionsField } from './collections-field.tsx'
import { productStatuses } from './columns.tsx'
import type { ProductEditor } from './editor.ts'
import { fieldErrorText, type StockFigures } from './field-texts.ts'
import { t } from './i18n.ts'
import { OptionsSection } from './options.tsx'
import { PicturesField } from './pictures-field.tsx'
import { VariantsSection } from './variants.tsx'

/**
 * The product form.
 * @param product undefined for a new product
 */
export function ProductForm({
  editor,
  figures,
  currency,
  product,
  onSave,
  submit,
}: {
  editor: ProductEditor
  figures: { readonly value: StockFigures }
  currency: string
  product?: Schema<'Product'>
  onSave: () => Promise<void>
  submit?: string
}) {
  return (
    <div class="long-form">
      <Form onSubmit={onSave} dirty={editor.isDirty.value} label={common('product')} {...(submit !== undefined && { submit })}>
        <div class="columns">
          <div class="stack">
            <BasicsSection editor={editor} />
            <PicturesField editor={editor} />
            <OptionsSection editor={editor} />
            <VariantsSection editor={editor} figures={figures} currency={currency} productId={product?.id} />
          </div>
          <div class="stack">
            <VisibilitySection editor={editor} />
            <OrganisationSection editor={editor} isExisting={product !== undefined} />
            {product && <CollectionsField productId={product.id} />}
            <SeoSection editor={editor} />
          </div>
        </div>
      </Form>
    </div>
  )
}

function BasicsSection({ editor }: { editor: ProductEditor }) {
  const [isPreview, setPreview] = useState(false)
  const { title, descriptionHtml } = editor.base
  return (
    <Section title={t('basics')}>
      <TextField label={common('title')} bind={title} max={255} required error={fieldErrorText(editor, 'title')} />
      <HtmlField label={common('descriptionHtml')} bind={descriptionHtml} max={65_536} hint={t('descriptionHint')} />
      <div class="row">
        <Button onPress={() => setPreview(!isPreview)} text={isPreview ? common('close') : common('preview')} />
      </div>
      {isPreview && <DescriptionPreview html={descriptionHtml} />}
    </Section>
  )
}

const DescriptionPreview = ({ html }: { html: ReadonlySignal<string> }) =>
  html.value.trim() === '' ? <p class="faint">{t('noDescription')}</p> : <HtmlPreview html={html.value} label={common('preview')} />

function VisibilitySection({ editor }: { editor: ProductEditor }) {
  const { status, publication, publishedAt } = editor.base
  const isActive = status.value === 'ACTIVE'
  // The API cannot store "never" for an inactive product.
  useEffect(() => {
    if (!isActive && publication.peek() === 'never') publication.value = 'auto'
  }, [isActive, publication.value])
  return (
    <Section title={common('status')}>
      <SelectField
        label={common('status')}
        bind={status}
        options={productStatuses.map((status) => [status, stateName(status)] as const)}
        hint={t('statusHint')}
      />
      <SelectField
        label={t('showing')}
        bind={publication}
        options={[['auto', t('showing.auto')], ['at', t('showing.at')], ...(isActive ? [['never', t('showing.never')] as const] : [])]}
      />
      {publication.value === 'at' && (
        <TextField
          label={t('publishedAt')}
          bind={publishedAt}
          type="datetime-local"
          hint={common('publishedHint', { zone: timeZone() })}
          error={fieldErrorText(editor, 'publishedAt')}
        />
      )}
    </Section>
  )
}

function OrganisationSection({ editor, isExisting }: { editor: ProductEditor; isExisting: boolean }) {
  const { kind, vendor, type, handle } = editor.base
  return (
    <Section title={t('organisation')}>
      <SelectField
        label={t('kind')}
        bind={kind}
        options={(['STANDARD', 'GIFT_CARD'] as const).map((kind) => [kind, t(`kind.${kind}`)] as const)}
        {...(kind.value === 'GIFT_CARD' ? { hint: t('kindHint') } : {})}
      />
      <TextField label={t('vendor')} bind={vendor} max={255} />
      <TextField label={common('type')} bind={type} max={255} />
      <TagsField label={common('tags')} bind={editor.base.tags} max={250} />
      <TextField
        label={common('handle')}
        bind={handle}
        max={255}
        code
        hint={isExisting ? t('handleKnownHint') : t('handleHint')}
        error={fieldErrorText(editor, 'handle')}
      />
    </Section>
  )
}

const SeoSection = ({ editor }: { editor: ProductEditor }) => (
  <Section title={t('seo')}>
    <TextField label={t('seoTitle')} bind={editor.base.seoTitle} max={255} />
    <TextAreaField label={t('seoDescription')} bind={editor.base.seoDescription} rows={3} max={1_000} />
  </Section>
)
