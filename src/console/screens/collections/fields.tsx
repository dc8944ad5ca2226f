import { useState } from 'preact/hooks'
import { timeZone } from '../../lib/format/format.ts'
import type { Draft } from '../../lib/forms/draft.ts'
import { c } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx'
import { Preview } from '../../ui/html-preview.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { MediaDialog } from '../pictures/dialog.tsx'
import type { CollectionText, Wrong } from './draft.domain.ts'
import { w } from './i18n.ts'

/** All of a collection but its products. */
export function CollectionFields({ draft, wrong, isKnown }: { draft: Draft<CollectionText>; wrong: Wrong; isKnown?: boolean }) {
  const [isPreview, setPreview] = useState(false)
  const html = draft.descriptionHtml.value
  return (
    <div class="columns">
      <Section title={w('basics')}>
        <TextField label={w('name')} bind={draft.title} max={255} required error={wrong.title && c('required')} />
        <AreaField label={w('description')} bind={draft.descriptionHtml} rows={5} max={65_536} />
        <div class="row">
          <Button onPress={() => setPreview(!isPreview)}>{isPreview ? c('close') : w('preview')}</Button>
        </div>
        {isPreview && html.trim() !== '' && <Preview html={html} label={w('preview')} />}
        <TextField
          label={w('handle')}
          bind={draft.handle}
          max={255}
          code
          hint={isKnown ? w('handleKnownHint') : w('handleHint')}
          error={wrong.handle && c('required')}
        />
      </Section>
      <div class="stack">
        <Section title={w('visibility')}>
          <SelectField
            label={w('published')}
            bind={draft.showing}
            options={[
              ['now', w('showing.now')],
              ['at', w('showing.at')],
              ['never', w('showing.never')],
            ]}
          />
          {draft.showing.value === 'at' && (
            <TextField
              label={w('publishedAt')}
              type="datetime-local"
              bind={draft.publishedAt}
              hint={w('publishedHint', { zone: timeZone() })}
              error={wrong.publishedAt && w('notMoment')}
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
  const show = ({ url }: { url: string }) => {
    draft.imageUrl.value = url
  }
  return (
    <Section title={w('picture')}>
      {draft.imageUrl.value === '' ? (
        <Uploads label={w('addPicture')} onDone={show} single />
      ) : (
        <>
          <Picture url={draft.imageUrl.value} alt={draft.imageAlt.value} large />
          <TextField label={w('alt')} bind={draft.imageAlt} max={512} hint={w('altHint')} />
        </>
      )}
      <div class="row">
        <Button onPress={() => setChoosing(true)}>{w('choosePicture')}</Button>
        {draft.imageUrl.value !== '' && <Button onPress={() => show({ url: '' })}>{c('remove')}</Button>}
      </div>
      {isChoosing && <MediaDialog onClose={() => setChoosing(false)} onChoose={show} single />}
    </Section>
  )
}
