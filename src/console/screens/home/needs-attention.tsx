import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import { stateName } from '../../lib/i18n/common.ts'
import { shopPath } from '../../lib/session/current-shop.ts'
import { Section } from '../../ui/page.tsx'
import { t } from './i18n.ts'
import { type AttentionItem, attentionItems } from './needs-attention.domain.ts'

/** Shows what needs attention, with links. */
export function AttentionList({ overview }: { overview: Schema<'Overview'> }) {
  const items = attentionItems(overview.waiting)
  return (
    <Section title={t('waiting')}>
      {items.length === 0 ? (
        <p class="faint">{t('waitingNothing')}</p>
      ) : (
        <ul class="attention-list">
          {items.map((item) => (
            <li key={item.name}>
              <AttentionLine item={item} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function AttentionLine({ item: { name, n, capped, tone, links } }: { item: AttentionItem }) {
  const [first, ...others] = links
  const text = (
    <>
      <strong class={tone}>{capped ? `${number(n)}+` : number(n)}</strong>
      <span>{t(`waiting.${name}`, { n })}</span>
    </>
  )
  if (!first) return <span class="attention-item">{text}</span>
  return (
    <>
      <a class="attention-item" href={`${shopPath(...first.path)}${first.query}`}>
        {text}
      </a>
      {others.map(({ path, query, state, text: linkText }) => (
        <a key={`${path} ${query}`} href={`${shopPath(...path)}${query}`}>
          {linkText ?? (state && stateName(state))}
        </a>
      ))}
    </>
  )
}
