import { api, ifMatch, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { type Resource, useResource } from '../../lib/api/resource.ts'
import { truncate } from '../../lib/format/truncate.ts'
import { diffRows } from '../../lib/forms/diff-rows.ts'
import { type Language, languages } from '../../lib/i18n/catalog.ts'
import { common } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop } from '../../lib/session/current-shop.ts'
import { isOperator } from '../../lib/session/session.ts'
import { CheckField, SelectField, TagsField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Note } from '../../ui/note.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { useRecordEditor } from '../../ui/use-record-editor.ts'
import { t } from './i18n.ts'
import { type MailTexts, mailBody, textsOfMail } from './mail.domain.ts'
import { MailPreview } from './preview.tsx'

type MailSettings = Schema<'MailSettings'>

const languageOptions = Object.entries(languages) as [Language, string][]

/** Hours to choose from, with the stored number. */
const hourOptions = (stored: number) =>
  [...new Set([1, 2, 4, 10, 24, 48, 72, 168, stored])].sort((a, b) => a - b).map((n) => [String(n), t('cartsAfter', { n })] as const)

/** Sender and design of mails to shoppers. */
export default function Mail() {
  const settings = useResource('', (signal) => readVersioned(api.GET('/shops/v2/mail', { signal })))
  return (
    <Page title={common('mail')} subtitle={t('subtitle')}>
      <ResourceView resource={settings} lines={8}>
        {(current) => (
          <>
            {!current.data.sending && <Note tone="warn">{t(isOperator.value ? 'offOwn' : 'off')}</Note>}
            <MailLimits settings={current.data} />
            <SettingsForm current={current} resource={settings} />
            <MailPreview version={current.etag} shopLanguage={current.data.language} />
          </>
        )}
      </ResourceView>
    </Page>
  )
}

/** Warns about limited, delayed or refused mails. */
const MailLimits = ({ settings: { sending, limits } }: { settings: MailSettings }) =>
  sending ? (
    <>
      {limits.onlyStaff && <Note tone="warn">{t('onlyStaff')}</Note>}
      {limits.delayed > 0 && <Note tone="warn">{t('delayed', { n: limits.delayed, hour: limits.perHour, day: limits.perDay })}</Note>}
      {limits.refusedLastDay > 0 && <Note tone="warn">{t('refused', { n: limits.refusedLastDay })}</Note>}
    </>
  ) : null

/** Returns the settings as rows, for conflicts. */
const settingRows = (values: MailTexts): readonly (readonly [string, string])[] => [
  [t('senderName'), values.senderName],
  [t('replyTo'), values.replyTo],
  [t('language'), languages[values.language]],
  [t('orderMails'), values.orderMails.join(', ')],
  [t('carts'), values.mailsCarts ? t('cartsAfter', { n: Number(values.cartHours) }) : common('no')],
  [t('accent'), values.hasOwnAccent ? values.accent : t('usual')],
  [t('background'), values.hasOwnBackground ? values.background : t('usual')],
]

function SettingsForm({ current, resource }: { current: Versioned<MailSettings>; resource: Resource<Versioned<MailSettings>> }) {
  const { effective } = current.data
  const editor = useRecordEditor(resource, current, textsOfMail)
  async function save(): Promise<void> {
    const input = editor.values()
    const differences = (theirs: MailSettings) => diffRows(settingRows(input), settingRows(textsOfMail(theirs)))
    const saved = await editor.save({
      save: (version) =>
        readVersioned<MailSettings>(api.PUT('/shops/v2/mail', { params: { header: ifMatch(version) }, body: mailBody(input) })),
      differences,
      findSaved: (now) => (differences(now.data).length === 0 ? now : undefined),
    })
    if (saved) notify(common('saved'))
  }
  const { fields } = editor
  return (
    <Form onSubmit={save} dirty={editor.isDirty} label={common('mail')} isEditableWhileSending>
      <Section title={t('sender')} hint={effective.address ? t('from', { address: effective.address }) : undefined}>
        <div class="fields">
          <TextField
            bind={fields.senderName}
            label={t('senderName')}
            max={100}
            hint={t('senderHint', { name: truncate(shop.value?.title ?? '', 100) })}
          />
          <TextField bind={fields.replyTo} label={t('replyTo')} type="email" max={254} hint={t('replyHint')} code />
          <SelectField bind={fields.language} label={t('language')} options={languageOptions} />
          <TagsField bind={fields.orderMails} label={t('orderMails')} hint={t('orderMailsHint')} max={5} code />
        </div>
      </Section>
      <Section title={t('carts')} hint={t('cartsHint')}>
        <CheckField bind={fields.mailsCarts} label={t('cartsOn')} />
        {fields.mailsCarts.value && (
          <SelectField bind={fields.cartHours} label={t('cartHours')} options={hourOptions(current.data.abandonedCartMail.afterHours)} />
        )}
      </Section>
      <Section title={t('look')} hint={t('lookHint')}>
        <div class="fields">
          <div>
            <CheckField bind={fields.hasOwnAccent} label={t('ownAccent')} />
            {fields.hasOwnAccent.value && <TextField bind={fields.accent} label={t('accent')} type="color" />}
          </div>
          <div>
            <CheckField bind={fields.hasOwnBackground} label={t('ownBackground')} />
            {fields.hasOwnBackground.value && <TextField bind={fields.background} label={t('background')} type="color" />}
          </div>
        </div>
      </Section>
    </Form>
  )
}
