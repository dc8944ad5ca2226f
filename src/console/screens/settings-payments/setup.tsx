import type { Schema } from '../../lib/api/api.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { CopyableText } from '../../ui/copyable-text.tsx'
import { Note } from '../../ui/note.tsx'
import { Section } from '../../ui/page.tsx'
import { fieldName } from './field-name.ts'
import { t } from './i18n.ts'

type Kind = Schema<'ProcessorFields'>

/** Labels of a dashboard, from menu to page; they are not translated. */
const menuPath = (labels: readonly string[]): string => labels.join(' → ')
const isReachable = (url: string): boolean => url.startsWith('https://')

const CodeList = ({ codes, label }: { codes: readonly string[]; label: string }) => (
  <ul class="code-list" aria-label={label}>
    {codes.map((code) => (
      <li key={code}>
        <code>{code}</code>
      </li>
    ))}
  </ul>
)

/** Tells where the keys of a processor come from, and which webhook to enter there. */
export function SetupSection({ kind: { processor, fields, setup } }: { kind: Kind }) {
  const { dashboard, keys, webhook, rights } = setup
  const name = processorName(processor)
  const signing = fields.find((field) => field.name === 'webhookSecret' || field.name === 'webhookId')
  return (
    <Section title={t('setup', { name })}>
      <div class="stack">
        <div>
          <h3>{t('setupKeys')}</h3>
          {keys.length === 0 ? (
            <p>{t('setupKeysSent', { name })}</p>
          ) : (
            <p>
              {t('setupPlace', { name })} <bdi dir="ltr">{menuPath(keys)}</bdi>
            </p>
          )}
          {dashboard && (
            <p class="row">
              {(['TEST', 'LIVE'] as const)
                .filter((mode, index) => index === 0 || dashboard[mode] !== dashboard.TEST)
                .map((mode) => (
                  <a key={mode} href={dashboard[mode]} target="_blank" rel="noreferrer">
                    {dashboard.TEST === dashboard.LIVE ? t('setupOpen', { name }) : t('setupOpenMode', { name, mode: t(mode) })}
                  </a>
                ))}
            </p>
          )}
          {rights.length > 0 && (
            <>
              <p>{t('setupRights')}</p>
              <CodeList codes={rights} label={t('setupRights')} />
            </>
          )}
        </div>
        <div>
          <h3>{t('setupWebhook')}</h3>
          {webhook ? (
            <>
              <p>
                {t('setupPlace', { name })} <bdi dir="ltr">{menuPath(webhook.at)}</bdi>
              </p>
              <CopyableText text={webhook.url} label={t('webhookUrl')} />
              {!isReachable(webhook.url) && <Note tone="warn">{t('setupNotPublic', { name })}</Note>}
              {signing && <p>{t('setupSigning', { field: fieldName(signing.name) })}</p>}
              <details>
                <summary>{t('setupEvents', { n: webhook.events.length })}</summary>
                <CodeList codes={webhook.events} label={t('setupEvents', { n: webhook.events.length })} />
              </details>
            </>
          ) : (
            <p>{t('setupNoWebhook')}</p>
          )}
        </div>
      </div>
    </Section>
  )
}
