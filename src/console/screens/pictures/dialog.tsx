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
const limit = 24

export const sizeOf = ({ width, height }: Media): string => t('size', { width: number(width), height: number(height) })

/** Selects pictures of the shop. Stays open for further ones unless `single`. */
export function MediaDialog({ onClose, onChoose, single }: { onClose: () => void; onChoose: (media: Media) => void; single?: boolean }) {
  const [page, setPage] = useState(1)
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set())
  const media = useResource(String(page), (signal) => ok(api.GET('/media', { params: { query: { page, limit } }, signal })))
  function choose(one: Media): void {
    onChoose(one)
    if (single) onClose()
    else setTaken(new Set([...taken, one.id]))
  }
  return (
    <Dialog title={t('choose')} onClose={onClose} wide>
      <ResourceView of={media}>
        {(list) =>
          list.data.length === 0 ? (
            <EmptyState icon="upload" title={t('none')} text={t('noneText')} />
          ) : (
            <>
              <ul class="gallery small">
                {list.data.map((one) => (
                  <li key={one.id}>
                    <button
                      type="button"
                      class="pick-picture"
                      aria-label={t('take', { at: moment(one.createdAt), size: sizeOf(one) })}
                      aria-pressed={taken.has(one.id)}
                      onClick={() => choose(one)}
                    >
                      <Picture url={one.url} large />
                      {taken.has(one.id) && <span class="state good">{t('chosen')}</span>}
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
