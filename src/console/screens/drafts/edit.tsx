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
import type { Versioned } from './draft.domain.ts'
import { Done } from './draft-result.tsx'
import { Editor } from './editor.tsx'
import { t } from './i18n.ts'
import { Side } from './side.tsx'

/** A draft order: a new one, one that is open, or what became of one. */
export default function DraftPage() {
  const { id } = useRoute().params
  const back = { href: shopPath('orders', 'drafts'), text: t('title') }
  if (id === undefined)
    return (
      <Page title={t('new')} subtitle={t('newText')} back={back}>
        <Editor />
      </Page>
    )
  return <Known id={id} back={back} />
}

function Known({ id, back }: { id: string; back: { href: string; text: string } }) {
  // The form begins anew with what it saved, and with what somebody else has; not with what comes behind its back.
  const begun = useSignal<Versioned | undefined>(undefined)
  const draft = useResource<Versioned>(id, async (signal) => {
    const read = await readVersioned(api.GET('/v2/orders/drafts/{id}', { params: { path: { id } }, signal }))
    begun.value ??= read as Versioned
    return read as Versioned
  })
  const isGoing = useRef(false)
  // What was typed before somebody began to pay stays, until one lets it go.
  const isLetGo = useSignal(false)
  useLiveReload(['order.*'], () => !isGoing.current && draft.reload())
  const known = draft.data.value
  const put = (now: Versioned) => {
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
                    {t('closedMeanwhile')}{' '}
                    <Button
                      onPress={() => {
                        isLetGo.value = true
                      }}
                    >
                      {t('letGo')}
                    </Button>
                  </Note>
                ) : (
                  begun.value && begun.value.etag !== now.etag && <Note tone="warn">{t('changedMeanwhile')}</Note>
                )}
                <Editor of={begun.value ?? now} isClosed={now.data.status !== 'OPEN'} onSaved={put} />
              </div>
            ) : (
              <Done of={now.data} />
            )}
            <Side
              of={now.data}
              onChange={draft.reload}
              onGoing={(going) => {
                isGoing.current = going
              }}
            />
          </div>
        )}
      </ResourceView>
    </Page>
  )
}
