import type { Schema } from '../../lib/api/api.ts'
import { differencesOf } from './audit.domain.ts'
import { t } from './i18n.ts'

/** The API's replacement of personal data and secrets. */
const redacted = '[redacted]'
const Value = ({ of }: { of: string }) => (of === redacted ? <span class="faint">{t('redacted')}</span> : <bdi>{of}</bdi>)

/** Shows changed fields, the old value struck out. */
export function Changes({ of }: { of: Pick<Schema<'AuditRecord'>, 'before' | 'after' | 'address' | 'requestId'> }) {
  const fields = differencesOf(of)
  if (fields.length === 0 && of.address === null && of.requestId === null) return <>–</>
  return (
    <details>
      <summary class="number">{fields.length === 0 ? t('where') : t('changed', { n: fields.length })}</summary>
      <ul class="changes">
        {fields.map(({ name, before, after }) => (
          <li key={name}>
            <code>{name}</code>{' '}
            {before !== undefined && (
              <del>
                <span class="unseen">{t('before')} </span>
                <Value of={before} />
              </del>
            )}{' '}
            {after !== undefined && (
              <ins>
                <span class="unseen">{t('after')} </span>
                <Value of={after} />
              </ins>
            )}
          </li>
        ))}
        {of.address !== null && (
          <li class="faint">
            {t('address')} <bdi>{of.address}</bdi>
          </li>
        )}
        {of.requestId !== null && (
          <li class="faint">
            {t('request')} <code>{of.requestId}</code>
          </li>
        )}
      </ul>
    </details>
  )
}
