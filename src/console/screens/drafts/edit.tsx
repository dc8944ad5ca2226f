import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, readVersioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { useLiveReload } from '../../lib/live/live-events.ts'
import { mayManage, shopPath } from '../../lib/session/current-shop.ts'
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
import { DraftSidebar } from './side.tsx'

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
  const begun = useSignal<VersionedDraft | undefined>(undefined)
  const draft = useResource<VersionedDraft>(id, async (signal) => {
    const read = await readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id } }, signal }))
    begun.value ??= read
    return read
  })
  const isGoing = useRef(false)
  // Input that was typed before the payment started stays until it is discarded.
  const isLetGo = useSignal(false)
  useLiveReload(['order.*'], () => !isGoing.current && draft.reload())
  const known = draft.data.value
  const put = (now: VersionedDraft) => {
    draft.put(now)
    begun.value = now
  }
  return (
    <Page
      title={known?.data.email ?? t('draft')}
      back={back}
      subtitle={
        known && (
          <>
            <StatusBadge of={known.data.status} />
            <Moment at={known.data.createdAt} />
          </>
        )
      }
    >
      <ResourceView of={draft}>
        {(now) => (
          <div class="columns">
            {mayManage.value && (now.data.status === 'OPEN' || (isDirty() && !isLetGo.value)) ? (
              <div class="stack">
                {now.data.status !== 'OPEN' ? (
                  <Note tone="warn">
                    {t('closedMeanwhile')} <Button onPress={() => (isLetGo.value = true)} text={t('letGo')} />
                  </Note>
                ) : (
                  begun.value && begun.value.etag !== now.etag && <Note tone="warn">{t('changedMeanwhile')}</Note>
                )}
                <DraftEditor of={begun.value ?? now} isClosed={now.data.status !== 'OPEN'} onSaved={put} />
              </div>
            ) : (
              <DraftResult of={now.data} />
            )}
            <DraftSidebar of={now.data} onChange={draft.reload} onGoing={(going) => (isGoing.current = going)} />
          </div>
        )}
      </ResourceView>
    </Page>
  )
}
