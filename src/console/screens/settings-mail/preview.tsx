import { useState } from 'preact/hooks'
import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { type Language, languages } from '../../lib/i18n/catalog.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { Button } from '../../ui/button.tsx'
import { HtmlPreview } from '../../ui/html-preview.tsx'
import { ResourceView, Section } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { t } from './i18n.ts'
import type { Template } from './mail.domain.ts'
import { TextsDialog } from './texts-editor.tsx'

/** All templates. The type fails if one is missing or removed. */
const templateFlags: Readonly<Record<Template, true>> = {
  'order-confirmed': true,
  'payment-instructions': true,
  new_order: true,
  gift_card: true,
  'return-updated': true,
  'payment-failed': true,
  'order-shipped': true,
  'refund-made': true,
  'refund-claim': true,
  'order-draft': true,
  'abandoned-cart': true,
  'account-claim': true,
  'password-reset': true,
  'email-verify': true,
  'account-changed': true,
  invitation: true,
  test: true,
}
const templates = Object.keys(templateFlags) as readonly Template[]
const widths = ['desk', 'phone'] as const

const oneOf = <T extends string>(values: readonly T[], text: string | undefined, fallback: T): T =>
  values.find((value) => value === text) ?? fallback

/**
 * Shows a mail as HTML and text.
 * @param version reloads after the settings changed
 * @param shopLanguage the shop's language
 */
export function MailPreview({ version, shopLanguage }: { version: string; shopLanguage: Language }) {
  const query = useQuery()
  const template = oneOf(templates, query.values['mail'], 'order-confirmed')
  const language = oneOf(Object.keys(languages) as Language[], query.values['in'], shopLanguage)
  const width = oneOf(widths, query.values['width'], 'desk')
  const [isEditing, setEditing] = useState(false)
  const mail = useResource(`${template} ${language} ${version}`, (signal) =>
    ok(api.GET('/shops/v2/mail/preview/{template}', { params: { path: { template }, query: { language } }, signal })),
  )
  return (
    <Section
      title={common('preview')}
      hint={t('previewHint')}
      actions={<Button onPress={() => setEditing(true)} text={t('editTexts')} />}
      wide
    >
      <div class="filters">
        <label class="filter">
          <span>{t('template')}</span>
          <select value={template} onChange={({ currentTarget: { value } }) => query.set({ mail: value }, { replace: true })}>
            {templates.map((template) => (
              <option key={template} value={template}>
                {t(`of.${template}`)}
              </option>
            ))}
          </select>
        </label>
        <Tabs
          label={common('language')}
          tabs={Object.entries(languages).map(([tag, text]) => ({ href: query.href({ in: tag }), text, current: tag === language }))}
        />
        <Tabs
          label={t('width')}
          tabs={widths.map((option) => ({ href: query.href({ width: option }), text: t(option), current: option === width }))}
        />
      </div>
      {isEditing && (
        <TextsDialog
          template={template}
          language={language}
          onClose={() => setEditing(false)}
          onDone={() => {
            setEditing(false)
            void mail.reload()
          }}
        />
      )}
      <ResourceView resource={mail} lines={10}>
        {({ subject, html, text }) => (
          <>
            <p>
              {t('subject')}: <strong dir="auto">{subject}</strong>
            </p>
            <div class="mail-preview">
              <div class={`mail ${width}`}>
                <h3>{t('html')}</h3>
                <HtmlPreview html={html} label={t('html')} styles />
              </div>
              <div>
                <h3>{t('text')}</h3>
                <pre dir="auto" tabIndex={0} role="region" aria-label={t('text')}>
                  {text}
                </pre>
              </div>
            </div>
          </>
        )}
      </ResourceView>
    </Section>
  )
}
