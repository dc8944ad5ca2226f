import { useState } from 'preact/hooks'
import { api, ok, type Schema } from '../../lib/api/api.ts'
import { useIdempotentSend } from '../../lib/api/pending-sends.ts'
import { useResource } from '../../lib/api/resource.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop, shopPath, updateShop } from '../../lib/session/current-shop.ts'
import { BulletList } from '../../ui/bullet-list.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ErrorMessage } from '../../ui/error-message.tsx'
import { Note } from '../../ui/note.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

type Steps = NonNullable<Schema<'Overview'>['goLive']>['steps']
type Step = Steps[number]['step']

/** Pages of the steps; KYB is on this page. */
const stepPaths: Readonly<Partial<Record<Step, readonly string[]>>> = {
  PRODUCTS: ['products'],
  SHIPPING: ['settings', 'shipping'],
  TAXES: ['settings', 'taxes'],
  PROCESSOR_ACCOUNT: ['settings', 'payments'],
  ORDERS_FINISHED: ['orders'],
}
const consequences = ['happens.money', 'happens.keys', 'happens.cards', 'happens.orders'] as const

/** Goes live, or lists the missing steps. */
export function GoingLive({ kybStatus }: { kybStatus: string }) {
  const [key, setKey] = useState<string | undefined>(undefined)
  if (shop.value?.mode === 'LIVE')
    return (
      <Section title={t('go')} actions={<StatusBadge status="LIVE" />}>
        <Note tone="good">{t('isLive')}</Note>
        {key && (
          <div role="status" class="stack">
            <p>{t('newKeyText')}</p>
            <CopyableText text={key} label={t('newKey')} />
            <ButtonLink href={shopPath('settings', 'keys')} text={common('keys')} />
          </div>
        )}
      </Section>
    )
  return <TestMode kybStatus={kybStatus} onLive={setKey} />
}

function TestMode({ kybStatus, onLive }: { kybStatus: string; onLive: (key: string) => void }) {
  const overview = useResource(`${shop.value?.id} ${kybStatus}`, (signal) => ok(api.GET('/shops/v2/overview', { signal })))
  const [error, setError] = useState<unknown>(undefined)
  const sendOnce = useIdempotentSend()
  async function goLive(): Promise<void> {
    // The shown steps can be outdated.
    await overview.reload()
    if (overview.data.value?.goLive?.steps.some(({ done, required }) => required && !done)) return notify(t('notYet'), { subject: 'live' })
    const body = <BulletList items={consequences.map((key) => t(key))} />
    if (!(await confirm({ title: t('goTitle'), body, action: t('go'), danger: true }))) return
    setError(undefined)
    try {
      const live = await sendOnce('live', (header) => ok(api.POST('/shops/v2/go-live', { params: { header } })))
      onLive(live.publishableKey)
      updateShop(live.shop)
      notify(t('went'))
    } catch (cause) {
      setError(cause)
      await overview.reload()
    }
  }
  return (
    <Section title={t('go')} actions={<StatusBadge status="TEST" />} hint={t('liveHint')}>
      <ResourceView resource={overview}>{({ goLive }) => <StepList steps={goLive?.steps ?? []} />}</ResourceView>
      <h3>{t('happens')}</h3>
      <BulletList items={consequences.map((key) => t(key))} />
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="form-actions">
        <Button kind="danger" onPress={goLive} text={t('go')} />
      </div>
    </Section>
  )
}

const StepList = ({ steps }: { steps: Steps }) => (
  <>
    <h3>{t('steps')}</h3>
    <ul class="requirements">
      {steps.map(({ step, done, required }) => (
        <li key={step}>
          <StatusBadge status={done ? 'OK' : 'PENDING'} text={done ? t('done') : required ? t('needed') : t('advised')} />
          <span>{t(`step.${step}`)}</span>
          {!done && stepPaths[step] && (
            <a href={shopPath(...stepPaths[step])}>
              {t('goThere')}
              <span class="unseen">: {t(`step.${step}`)}</span>
            </a>
          )}
        </li>
      ))}
    </ul>
  </>
)
