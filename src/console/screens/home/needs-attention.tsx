import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { stateName } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import { type Waiting, waitingOf } from './needs-attention.domain.ts'

/** What waits for the shop's people, each with the place where it is done. */
export function WaitingList({ of }: { of: Schema<'Overview'> }) {
  const waiting = waitingOf(of.waiting)
  return (
    <Section title={t('waiting')}>
      {waiting.length === 0 ? (
        <p class="faint">{t('waitingNothing')}</p>
      ) : (
        <ul class="waiting">
          {waiting.map((one) => (
            <li key={one.name}>
              <One of={one} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function One({ of: { name, n, capped, tone, links } }: { of: Waiting }) {
  const [first, ...others] = links
  const text = (
    <>
      <strong class={tone}>{capped ? `${number(n)}+` : number(n)}</strong>
      <span>{t(`waiting.${name}`, { n })}</span>
    </>
  )
  if (!first) return <span class="waits">{text}</span>
  return (
    <>
      <a class="waits" href={`${shopPath(...first.path)}${first.query}`}>
        {text}
      </a>
      {others.map(({ path, query, state, text: called }) => (
        <a key={`${path} ${query}`} href={`${shopPath(...path)}${query}`}>
          {called ?? (state && stateName(state))}
        </a>
      ))}
    </>
  )
}
