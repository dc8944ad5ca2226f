import { useState } from 'preact/hooks'
import { timeZone } from '../../lib/format/format.ts'
import type { Draft } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { HtmlField } from '../../ui/rich-text/index.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { MediaDialog } from '../pictures/dialog.tsx'
import type { CollectionText, FieldErrors } from './draft.domain.ts'
import { t } from './i18n.ts'

/** The fields of a collection, without its products. */
export function CollectionFields({
  draft,
  errors,
  isExisting,
}: {
  draft: Draft<CollectionText>
  errors: FieldErrors
  isExisting?: boolean
}) {
  const [isPreview, setPreview] = useState(false)
  const html = draft.descriptionHtml.value
  return (
    <div class="columns">
      <Section title={t('basics')}>
        <TextField label={common('title')} bind={draft.title} max={255} required error={errors.title && common('required')} />
        <HtmlField label={common('descriptionHtml')} bind={draft.descriptionHtml} rows={5} max={65_536} />
        <div class="row">
          <Button onPress={() => setPreview(!isPreview)} text={isPreview ? common('close') : common('preview')} />
        </div>
        {isPreview && html.trim() !== '' && <HtmlPreview html={html} label={common('preview')} />}
        <TextField
          label={common('handle')}
          bind={draft.handle}
          max={255}
          code
          hint={isExisting ? t('handleKnownHint') : t('handleHint')}
          error={errors.handle && common('required')}
        />
      </Section>
      <div class="stack">
        <Section title={t('visibility')}>
          <SelectField
            label={common('status')}
            bind={draft.showing}
            options={[
              ['now', t('showing.now')],
              ['at', t('showing.at')],
              ['never', t('showing.never')],
            ]}
          />
          {draft.showing.value === 'at' && (
            <TextField
              label={t('publishedAt')}
              type="datetime-local"
              bind={draft.publishedAt}
              hint={common('publishedHint', { zone: timeZone() })}
              error={errors.publishedAt && t('notMoment')}
            />
          )}
        </Section>
        <CollectionPicture draft={draft} />
      </div>
    </div>
  )
}

function CollectionPicture({ draft }: { draft: Draft<CollectionText> }) {
  const [isChoosing, setChoosing] = useState(false)
  const setPicture = ({ url }: { url: string }) => {
    draft.imageUrl.value = url
  }
  return (
    <Section title={common('picture')}>
      {draft.imageUrl.value === '' ? (
        <Uploads label={t('addPicture')} onDone={setPicture} single />
      ) : (
        <>
          <Picture url={draft.imageUrl.value} alt={draft.imageAlt.value} large />
          <TextField label={common('altText')} bind={draft.imageAlt} max={512} hint={t('altHint')} />
        </>
      )}
      <div class="row">
        <Button onPress={() => setChoosing(true)} text={common('choosePicture')} />
        {draft.imageUrl.value !== '' && <Button onPress={() => setPicture({ url: '' })} text={common('remove')} />}
      </div>
      {isChoosing && <MediaDialog onClose={() => setChoosing(false)} onChoose={setPicture} single />}
    </Section>
  )
}
