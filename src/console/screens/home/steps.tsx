import type { Schema } from '../../lib/api.ts'
import { at } from '../../lib/shop.ts'
import { c } from '../../lib/words/common.ts'
import { Note } from '../../ui/bits.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Section } from '../../ui/page.tsx'
import { w } from './words.ts'

type Step = NonNullable<Schema<'Overview'>['goLive']>['steps'][number]['step']

const places: Readonly<Record<Step, readonly string[]>> = {
  PRODUCTS: ['products', 'new'],
  SHIPPING: ['settings', 'shipping'],
  PROCESSOR_ACCOUNT: ['settings', 'payments'],
  KYB: ['settings', 'verification'],
  ORDERS_FINISHED: ['orders'],
}

/** What is left to do before a shop sells for real money. */
export function NextSteps({ of: { goLive, kyb } }: { of: Schema<'Overview'> }) {
  if (!goLive) return null
  const isReady = goLive.steps.every(({ done, required }) => done || !required)
  if (isReady)
    return (
      <Section
        title={w('ready')}
        actions={
          <ButtonLink kind="primary" href={at('settings')}>
            {w('goLive')}
          </ButtonLink>
        }
        hint={w('readyHint')}
      />
    )
  return (
    <Section title={w('steps')} hint={w('stepsHint')}>
      <ol class="steps">
        {goLive.steps.map(({ step, done, required }) => (
          <li key={step} class={done ? 'done' : undefined}>
            <span class="step-mark">
              {done && <Icon name="check" />}
              <span class="unseen">{done ? w('stepDone') : w('stepOpen')}</span>
            </span>
            <a href={at(...places[step])}>{w(`step.${step}`)}</a>
            {!required && !done && <small class="faint">{c('optional')}</small>}
          </li>
        ))}
      </ol>
      {kyb?.status === 'PENDING' && <Note>{w('kybPending')}</Note>}
      {kyb?.status === 'REJECTED' && (
        <Note tone="bad">
          {w('kybRejected')} {kyb.reason && <bdi>{kyb.reason}</bdi>}
        </Note>
      )}
    </Section>
  )
}
