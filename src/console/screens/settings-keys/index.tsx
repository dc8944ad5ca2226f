import { useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { ApiError } from '../../lib/api/api-error.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { shop, shopName } from '../../lib/session/current-shop.ts'
import { sessionStatus } from '../../lib/session/session.ts'
import { Button } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

/** How long the old key stays valid, in seconds. */
const gracePeriods = [0, 3_600, 21_600, 86_400] as const
type GracePeriod = `${(typeof gracePeriods)[number]}`

/** A shown secret key. `previousUntil`: when the old key expires; null if it has. */
type ShownKey = { readonly key: string; readonly previousUntil?: string | null }

export default function Keys() {
  const [shownKey, setShownKey] = useState<ShownKey | undefined>(undefined)
  return (
    <Page
      title={common('keys')}
      subtitle={
        <>
          <StatusBadge status={shop.value?.mode ?? 'TEST'} /> {t('subtitle')}
        </>
      }
    >
      <PublishableKey />
      <SecretKey shownKey={shownKey} setShownKey={setShownKey} />
      <RotateKey onRotated={setShownKey} />
    </Page>
  )
}

function PublishableKey() {
  const name = shopName.value ?? ''
  // Going live replaces the keys.
  const publicShop = useResource(`${name} ${shop.value?.mode}`, (signal) =>
    ok(api.GET('/shops/v2/public/name/{shopName}', { params: { path: { shopName: name } }, signal })),
  )
  return (
    <Section title={t('publishable')} hint={t('publishableHint')}>
      {shop.value?.status === 'SUSPENDED' ? (
        <p>{t('suspended')}</p>
      ) : (
        <ResourceView resource={publicShop} lines={1}>
          {({ publishableKey }) =>
            publishableKey ? <CopyableText text={publishableKey} label={t('publishable')} /> : <p>{common('none')}</p>
          }
        </ResourceView>
      )}
    </Section>
  )
}

function SecretKey({ shownKey, setShownKey }: { shownKey: ShownKey | undefined; setShownKey: (shownKey: ShownKey | undefined) => void }) {
  const [error, setError] = useState<unknown>(undefined)
  async function show(): Promise<void> {
    const isSure = await confirm({ title: t('showTitle'), body: <p>{t('showText')}</p>, action: t('show') })
    if (!isSure) return
    setError(undefined)
    try {
      const { privateKey } = await ok(api.GET('/shops/v2/private-key', { cache: 'no-store' }))
      setShownKey({ key: privateKey })
    } catch (cause) {
      setError(cause)
    }
  }
  return (
    <Section title={t('secret')} hint={t('secretHint')}>
      <div role="status" class="stack">
        {shownKey && sessionStatus.value !== 'locked' && (
          <>
            {shownKey.previousUntil !== undefined && (
              <Note tone="warn">
                {t('rotated')}{' '}
                {shownKey.previousUntil === null ? (
                  t('previousOver')
                ) : (
                  <>
                    {t('previousUntil')} <Moment at={shownKey.previousUntil} />
                  </>
                )}
              </Note>
            )}
            <CopyableText text={shownKey.key} label={t('secret')} />
          </>
        )}
      </div>
      {error !== undefined && <ErrorMessage error={error} />}
      {error instanceof ApiError && error.status === 429 && <p class="hint">{t('tenAnHour')}</p>}
      <div class="row">
        {shownKey ? <Button onPress={() => setShownKey(undefined)} text={t('hide')} /> : <Button onPress={show} text={t('show')} />}
      </div>
    </Section>
  )
}

function RotateKey({ onRotated }: { onRotated: (newKey: ShownKey) => void }) {
  const grace = useSignal<GracePeriod>('3600')
  // A repeated request would invalidate the first new key.
  const sendOnce = useIdempotentSend()
  async function rotate(): Promise<void> {
    const graceSeconds = Number(grace.value)
    const isSure = await confirm({
      title: t('rotateTitle'),
      body: <p>{graceSeconds === 0 ? t('rotateNow') : t('rotateLater', { grace: t(`grace.${grace.value}`) })}</p>,
      action: t('rotate'),
      danger: true,
    })
    if (!isSure) return
    const { privateKey, previousKeyExpiresAt } = await sendOnce({ graceSeconds }, (header) =>
      ok(api.POST('/shops/v2/private-key/rotate', { params: { header }, body: { graceSeconds } })),
    )
    onRotated({ key: privateKey, previousUntil: graceSeconds === 0 ? null : previousKeyExpiresAt })
  }
  return (
    <Section title={t('rotateSection')} hint={t('rotateHint')}>
      <Form onSubmit={rotate} submit={t('rotate')} danger label={t('rotateSection')}>
        <SelectField
          bind={grace}
          label={t('grace')}
          hint={t('graceHint')}
          options={gracePeriods.map((seconds) => [`${seconds}` as GracePeriod, t(`grace.${seconds}`)])}
        />
      </Form>
    </Section>
  )
}
