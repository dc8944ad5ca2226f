import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment, number } from '../../lib/format/format.ts'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState, ResourceView } from '../../ui/page.tsx'
import { Picture } from '../../ui/picture.tsx'
import { t } from './i18n.ts'

type Media = Schema<'Media'>
const pageSize = 24

/** Formats the size of a picture in pixels. */
export const sizeText = ({ width, height }: Media): string => t('size', { width: number(width), height: number(height) })

/** Selects pictures of the shop. Stays open for further ones unless `single`. */
export function MediaDialog({ onClose, onChoose, single }: { onClose: () => void; onChoose: (media: Media) => void; single?: boolean }) {
  const [page, setPage] = useState(1)
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set())
  const media = useResource(String(page), (signal) => ok(api.GET('/media', { params: { query: { page, pageSize } }, signal })))
  function choose(picture: Media): void {
    onChoose(picture)
    if (single) onClose()
    else setChosenIds(new Set([...chosenIds, picture.id]))
  }
  return (
    <Dialog title={t('choose')} onClose={onClose} wide>
      <ResourceView resource={media}>
        {(list) =>
          list.data.length === 0 ? (
            <EmptyState icon="upload" title={t('none')} text={t('noneText')} />
          ) : (
            <>
              <ul class="gallery small">
                {list.data.map((picture) => (
                  <li key={picture.id}>
                    <button
                      type="button"
                      class="picture-option"
                      aria-label={t('take', { at: moment(picture.createdAt), size: sizeText(picture) })}
                      aria-pressed={chosenIds.has(picture.id)}
                      onClick={() => choose(picture)}
                    >
                      <Picture url={picture.url} large />
                      {chosenIds.has(picture.id) && <span class="state good">{t('chosen')}</span>}
                    </button>
                  </li>
                ))}
              </ul>
              {list.pages > 1 && (
                <div class="row">
                  <Button disabled={page <= 1} onPress={() => setPage(page - 1)} text={common('previous')} />
                  <span>
                    {number(page)} / {number(list.pages)}
                  </span>
                  <Button disabled={page >= list.pages} onPress={() => setPage(page + 1)} text={common('next')} />
                </div>
              )}
            </>
          )
        }
      </ResourceView>
    </Dialog>
  )
}
