import type { Schema } from '../../lib/api/api.ts'
import { common } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'

type Steps = NonNullable<Schema<'Overview'>['goLive']>['steps']
type Step = Steps[number]['step']

const stepPaths: Readonly<Record<Step, readonly string[]>> = {
  PRODUCTS: ['products', 'new'],
  SHIPPING: ['settings', 'shipping'],
  PROCESSOR_ACCOUNT: ['settings', 'payments'],
  KYB: ['settings', 'verification'],
  ORDERS_FINISHED: ['orders'],
}

const StepList = ({ of }: { of: Steps }) => (
  <ol class="steps">
    {of.map(({ step, done, required }) => (
      <li key={step} class={done ? 'done' : undefined}>
        <span class="step-mark">
          {done && <Icon name="check" />}
          <span class="unseen">{done ? t('stepDone') : t('stepOpen')}</span>
        </span>
        <a href={shopPath(...stepPaths[step])}>{t(`step.${step}`)}</a>
        {!required && !done && <small class="faint">{common('optional')}</small>}
      </li>
    ))}
  </ol>
)

/** Steps to take real money. "Ready to go live" does not mean that a purchase is possible. */
export function NextSteps({ of: { goLive, kyb } }: { of: Schema<'Overview'> }) {
  if (!goLive) return null
  const left = goLive.steps.filter(({ done }) => !done)
  if (!left.some(({ required }) => required))
    return (
      <Section
        title={left.length === 0 ? t('ready') : t('mayGoLive')}
        actions={<ButtonLink kind="primary" href={shopPath('settings', 'verification')} text={t('goLive')} />}
        hint={left.length === 0 ? t('readyHint') : t('mayGoLiveHint')}
      >
        {left.length > 0 && <StepList of={left} />}
      </Section>
    )
  return (
    <Section title={t('steps')} hint={t('stepsHint')}>
      <StepList of={goLive.steps} />
      {kyb?.status === 'PENDING' && <Note>{t('kybPending')}</Note>}
      {kyb?.status === 'REJECTED' && (
        <Note tone="bad">
          {t('kybRejected')} {kyb.reason && <bdi>{kyb.reason}</bdi>}
        </Note>
      )}
    </Section>
  )
}
