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
export function ResolverChain({ resolution: { method, links, selected }, currency }: { resolution: MethodResolution; currency: string }) {
  const endText = selected === undefined ? t('offeredNot') : t('offeredBy', { name: processorName(selected) })
  // A rule without a processor decides nothing. Wallets say what they need.
  const shownLinks = links.filter(({ outcome }) => outcome !== 'NO_MATCH' || method === 'wallet')
  return (
    <section class="payment-method" aria-label={t(method)}>
      <h3>{t(method)}</h3>
      <ol class="chain">
        {shownLinks.map((link, index) => (
          <li key={index} class={link.outcome === 'SELECTED' ? 'selected' : 'skipped'}>
            <ResolverStep link={link} currency={currency} />
          </li>
        ))}
        <ChainEnd text={endText} isActive={selected !== undefined} />
      </ol>
    </section>
  )
}

const ChainEnd = ({ text, isActive }: { text: string; isActive: boolean }) => (
  <li class={isActive ? 'end selected' : 'end none'}>
    <div>
      <Icon name={isActive ? 'check' : 'close'} />
      <strong>{text}</strong>
    </div>
  </li>
)

/** Shows a payment method that needs no processor and so no resolver. */
export const ActiveMethod = ({ name, text }: { name: string; text: string }) => (
  <div class="payment-method">
    <h3>
      <bdi>{name}</bdi>
    </h3>
    <ol class="chain">
      <ChainEnd text={text} isActive />
    </ol>
  </div>
)

function ResolverStep({ link: { method, step, candidate, outcome }, currency }: { link: ResolverLink; currency: string }) {
  const outcomeText =
    method === 'wallet' && outcome === 'NO_MATCH' ? t('walletNoMatch') : t(outcome, { currency, mode: t(shop.value?.mode ?? 'TEST') })
  return (
    <div>
      <small class="faint">{t(step)}</small>
      <strong>{candidate === null ? '–' : processorName(candidate)}</strong>
      <span class="outcome">
        <Icon name={icons[outcome]} />
        {outcomeText}
      </span>
    </div>
  )
}
