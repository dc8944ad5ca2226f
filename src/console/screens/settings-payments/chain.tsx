import { processorName } from '../../lib/format/processor-names.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { t } from './i18n.ts'
import type { MethodResolution, ResolverLink } from './methods.domain.ts'

const icons: Readonly<Record<ResolverLink['outcome'], IconName>> = {
  SELECTED: 'check',
  DISABLED: 'close',
  NO_MATCH: 'more',
  SKIPPED_OPEN: 'clock',
  NO_KEY: 'warn',
  NO_CURRENCY: 'warn',
}

/** Shows the steps of the payment resolver for a method. */
export function ResolverChain({ of: { method, links, chosen }, currency }: { of: MethodResolution; currency: string }) {
  const end = chosen === undefined ? t('offeredNot') : t('offeredBy', { name: processorName(chosen) })
  return (
    <section class="way" aria-label={t(method)}>
      <h3>{t(method)}</h3>
      <ol class="chain">
        {links.map((link, at) => (
          <li key={at} class={link.outcome === 'SELECTED' ? 'taken' : 'passed'}>
            <ResolverStep of={link} currency={currency} />
          </li>
        ))}
        <li class={chosen === undefined ? 'end none' : 'end taken'}>
          <div>
            <Icon name={chosen === undefined ? 'close' : 'check'} />
            <strong>{end}</strong>
          </div>
        </li>
      </ol>
    </section>
  )
}

function ResolverStep({ of: { method, step, candidate, outcome }, currency }: { of: ResolverLink; currency: string }) {
  const what =
    method === 'wallet' && outcome === 'NO_MATCH' ? t('walletNoMatch') : t(outcome, { currency, mode: t(shop.value?.mode ?? 'TEST') })
  return (
    <div>
      <small class="faint">{t(step)}</small>
      <strong>{candidate === null ? '–' : processorName(candidate)}</strong>
      <span class="outcome">
        <Icon name={icons[outcome]} />
        {what}
      </span>
    </div>
  )
}
