import type { Schema } from '../../lib/api/api.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { isOperator } from '../../lib/session/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'

type Steps = NonNullable<Schema<'Overview'>['goLive']>['steps']
type Step = Steps[number]['step'] | 'GO_LIVE'

const stepPaths: Readonly<Record<Step, readonly string[]>> = {
  PRODUCTS: ['products', 'new'],
  SHIPPING: ['settings', 'shipping'],
  TAXES: ['settings', 'taxes'],
  PROCESSOR_ACCOUNT: ['settings', 'payments'],
  KYB: ['settings', 'verification'],
  ORDERS_FINISHED: ['orders'],
  GO_LIVE: ['settings', 'verification'],
}

/** What applies while a step is open. */
const stepHint = (step: Step): string | undefined => t.find(`stepHint.${step}`)

/** The steps of the API and going live itself. Open test orders are a step only while there are some. */
const checklistOf = (steps: Steps): readonly { readonly step: Step; readonly done: boolean }[] => [
  ...steps.filter(({ step, done }) => step !== 'ORDERS_FINISHED' || !done),
  { step: 'GO_LIVE', done: false },
]

const StepList = ({ steps }: { steps: Steps }) => (
  <ol class="steps">
    {checklistOf(steps).map(({ step, done }) => (
      <li key={step} class={done ? 'done' : undefined}>
        <span class="step-mark">
          {done && <Icon name="check" />}
          <span class="unseen">{done ? t('stepDone') : t('stepOpen')}</span>
        </span>
        <a href={shopPath(...stepPaths[step])}>{t(`step.${step}`)}</a>
        {!done && stepHint(step) && <small class="faint">{stepHint(step)}</small>}
      </li>
    ))}
  </ol>
)

/** Steps to take real money. "Ready to go live" does not mean that a purchase is possible. */
export function NextSteps({ overview: { goLive, kyb } }: { overview: Schema<'Overview'> }) {
  if (!goLive) return null
  const openSteps = goLive.steps.filter(({ done }) => !done)
  if (!openSteps.some(({ required }) => required))
    return (
      <Section
        title={t('mayGoLive')}
        actions={<ButtonLink kind="primary" href={shopPath('settings', 'verification')} text={t('goLive')} />}
        hint={openSteps.length === 0 ? t('readyHint') : t('mayGoLiveHint')}
      >
        <StepList steps={goLive.steps} />
      </Section>
    )
  return (
    <Section title={t('steps')} hint={t('stepsHint')}>
      <StepList steps={goLive.steps} />
      {kyb?.status === 'PENDING' && <Note>{isOperator.value ? t('kybApprove') : t('kybPending')}</Note>}
      {kyb?.status === 'REJECTED' && (
        <Note tone="bad">
          {t('kybRejected')} {kyb.reason && <bdi>{kyb.reason}</bdi>}
        </Note>
      )}
    </Section>
  )
}
