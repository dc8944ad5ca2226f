import { useState } from 'preact/hooks'
import { truncate } from '../../lib/format/truncate.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Section } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { moveItem, SortableList } from '../../ui/sortable-list.tsx'
import { Uploads } from '../../ui/uploads.tsx'
import { MediaDialog } from '../pictures/dialog.tsx'
import type { ProductEditor } from './editor.ts'
import { t } from './i18n.ts'

/** A product's pictures: uploaded or selected, sortable, with alt texts. */
export function PicturesField({ editor }: { editor: ProductEditor }) {
  const [isChoosing, setChoosing] = useState(false)
  const { pictures } = editor
  const nameOf = (picture: (typeof pictures.value)[number]) =>
    picture.alt.value || t('picture', { n: pictures.value.findIndex(({ key }) => key === picture.key) + 1 })
  return (
    <Section
      title={common('pictures')}
      hint={t('picturesHint')}
      actions={<Button onPress={() => setChoosing(true)} text={common('choosePicture')} />}
    >
      {pictures.value.length > 0 && (
        <SortableList
          grid
          label={common('pictures')}
          items={pictures.value}
          keyOf={({ key }) => key}
          nameOf={nameOf}
          onMove={(from, to) => (pictures.value = moveItem(pictures.value, from, to))}
        >
          {(picture) => (
            <div class="stack">
              <Picture url={picture.url} alt={picture.alt.value} large />
              <TextField label={common('altText')} bind={picture.alt} max={512} />
              <Button
                onPress={() => (pictures.value = pictures.value.filter(({ key }) => key !== picture.key))}
                label={`${common('remove')}: ${truncate(nameOf(picture))}`}
                icon="close"
              />
            </div>
          )}
        </SortableList>
      )}
      <Uploads
        label={t('addPictures')}
        onDone={(media, { name }) => {
          if (!editor.addPicture(media)) notify(t('pictureIsThere', { name: truncate(name) }))
        }}
      />
      {isChoosing && <MediaDialog onClose={() => setChoosing(false)} onChoose={editor.addPicture} />}
    </Section>
  )
}
