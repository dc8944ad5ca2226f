import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, readVersioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { canManage, shopPath } from '../../lib/session/current-shop.ts'
import { isDirty } from '../../lib/session/unsaved-changes.ts'
import { Button } from '../../ui/button.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import type { VersionedDraft } from './draft.domain.ts'
import { DraftResult } from './draft-result.tsx'
import { DraftEditor } from './editor.tsx'
import { t } from './i18n.ts'
import { DraftSidebar } from './sidebar.tsx'

/** A draft order: new, open or finished. */
export default function DraftPage() {
  const { id } = useRoute().params
  const back = { href: shopPath('orders', 'drafts'), text: t('title') }
  if (id === undefined)
    return (
      <Page title={t('new')} subtitle={t('newText')} back={back}>
        <DraftEditor />
      </Page>
    )
  return <ExistingDraft id={id} back={back} />
}

function ExistingDraft({ id, back }: { id: string; back: { href: string; text: string } }) {
  // The form restarts with a saved or a viewed version, not with a background reload.
  const formVersion = useSignal<VersionedDraft | undefined>(undefined)
  const draft = useResource<VersionedDraft>(id, async (signal) => {
    const read = await readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id } }, signal }))
    formVersion.value ??= read
    return read
  })
  const isDeleting = useRef(false)
  // Input that was typed before the payment started stays until it is discarded.
  const isDiscarded = useSignal(false)
  useLiveReload(['order.*'], () => !isDeleting.current && draft.reload())
  const current = draft.data.value
  const showVersion = (version: VersionedDraft) => {
    draft.put(version)
    formVersion.value = version
  }
  return (
    <Page
      title={current?.data.email ?? t('draft')}
      back={back}
      subtitle={
        current && (
          <>
            <StatusBadge status={current.data.status} />
            <Moment at={current.data.createdAt} />
          </>
        )
      }
    >
      <ResourceView resource={draft}>
        {(version) => (
          <div class="columns">
            {canManage.value && (version.data.status === 'OPEN' || (isDirty() && !isDiscarded.value)) ? (
              <div class="stack">
                {version.data.status !== 'OPEN' ? (
                  <Note tone="warn">
                    {t('closedMeanwhile')} <Button onPress={() => (isDiscarded.value = true)} text={t('letGo')} />
                  </Note>
                ) : (
                  formVersion.value && formVersion.value.etag !== version.etag && <Note tone="warn">{t('changedMeanwhile')}</Note>
                )}
                <DraftEditor current={formVersion.value ?? version} isClosed={version.data.status !== 'OPEN'} onSaved={showVersion} />
              </div>
            ) : (
              <DraftResult draft={version.data} />
            )}
            <DraftSidebar draft={version.data} onChange={draft.reload} onDeleting={(isStarted) => (isDeleting.current = isStarted)} />
          </div>
        )}
      </ResourceView>
    </Page>
  )
}
