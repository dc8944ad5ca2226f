import type { Schema } from '../../lib/api/api.ts'
import { differencesOf } from './audit.domain.ts'
import { t } from './i18n.ts'

/** The API's replacement of personal data and secrets. */
const redacted = '[redacted]'
const Value = ({ value }: { value: string }) => (value === redacted ? <span class="faint">{t('redacted')}</span> : <bdi>{value}</bdi>)

/** Shows changed fields, the old value struck out. */
export function Changes({ record }: { record: Pick<Schema<'AuditRecord'>, 'before' | 'after' | 'address' | 'requestId'> }) {
  const fields = differencesOf(record)
  if (fields.length === 0 && record.address === null && record.requestId === null) return <>–</>
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
                <Value value={before} />
              </del>
            )}{' '}
            {after !== undefined && (
              <ins>
                <span class="unseen">{t('after')} </span>
                <Value value={after} />
              </ins>
            )}
          </li>
        ))}
        {record.address !== null && (
          <li class="faint">
            {t('address')} <bdi>{record.address}</bdi>
          </li>
        )}
        {record.requestId !== null && (
          <li class="faint">
            {t('request')} <code>{record.requestId}</code>
          </li>
        )}
      </ul>
    </details>
  )
}
