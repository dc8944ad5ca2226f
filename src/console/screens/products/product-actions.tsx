import { useLocation } from 'preact-iso/router'
import { api, ifMatch, ok, readVersioned } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shopHeader, shopPath } from '../../lib/session/current-shop.ts'
import { isDirty } from '../../lib/session/unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { t } from './i18n.ts'
import type { VersionedProduct } from './save.ts'

/** Duplicates, archives (with an undo) and deletes a product. */
export function ProductActions({
  version: { data, etag },
  onChanged,
}: {
  version: VersionedProduct
  onChanged: (now: VersionedProduct) => void
}) {
  const { route } = useLocation()
  const sendOnce = useIdempotentSend()
  const { id, status } = data
  const path = { id }
  const change = (to: typeof status, versionEtag: string): Promise<VersionedProduct> =>
    readVersioned(
      api.PATCH('/product-v2/{id}', { params: { path, header: { ...shopHeader(), ...ifMatch(versionEtag) } }, body: { status: to } }),
    )
  /** Unsaved input would belong to an outdated version, or would be lost. */
  const whenSaved = (work: () => Promise<void>) => async () => (isDirty() ? notify(t('saveFirst')) : work())

  const duplicate = whenSaved(async () => {
    const copy = await sendOnce([id, etag], (header) => ok(api.POST('/product-v2/{id}/duplicate', { params: { path, header } })))
    notify(t('duplicated'))
    route(shopPath('products', copy.id))
  })
  const archive = whenSaved(async () => {
    const now = await change('ARCHIVED', etag)
    onChanged(now)
    notify(t('archived'), { undo: async () => onChanged(await change(status, now.etag)) })
  })
  const remove = whenSaved(async () => {
    const isConfirmed = await confirm({ title: t('deleteTitle'), body: <p>{t('deleteText')}</p>, action: common('delete'), danger: true })
    if (!isConfirmed) return
    const header = { ...shopHeader(), ...ifMatch(etag) }
    const now = await readVersioned(api.DELETE('/product-v2/{id}', { params: { path, header } }))
    notify(now.data.deleted ? t('deleted') : t('archivedInstead'))
    if (now.data.deleted) route(shopPath('products'), true)
    else onChanged(now)
  })
  return (
    <>
      <Button onPress={duplicate} text={t('duplicate')} />
      {status !== 'ARCHIVED' && <Button onPress={archive} text={t('archive')} />}
      <Button kind="danger" onPress={remove} text={common('delete')} />
    </>
  )
}
