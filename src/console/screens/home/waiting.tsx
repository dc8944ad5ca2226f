import type { Schema } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { at } from '../../lib/shop.ts'
import { stateName } from '../../lib/words/common.ts'
import { Section } from '../../ui/page.tsx'
import { type Waiting, waitingOf } from './waiting.domain.ts'
import { w } from './words.ts'

/** What waits for the shop's people, each with the place where it is done. */
export function WaitingList({ of }: { of: Schema<'Overview'> }) {
  const waiting = waitingOf(of.waiting)
  return (
    <Section title={w('waiting')}>
      {waiting.length === 0 ? (
        <p class="faint">{w('waitingNothing')}</p>
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
      <span>{w(`waiting.${name}`, { n })}</span>
    </>
  )
  if (!first) return <span class="waits">{text}</span>
  return (
    <>
      <a class="waits" href={`${at(...first.path)}${first.query}`}>
        {text}
      </a>
      {others.map(({ path, query, state, text: called }) => (
        <a key={`${path} ${query}`} href={`${at(...path)}${query}`}>
          {called ?? (state && stateName(state))}
        </a>
      ))}
    </>
  )
}
