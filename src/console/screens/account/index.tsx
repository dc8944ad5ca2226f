import { useSignal } from '@preact/signals'
import { api, ok } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { chooseLanguage, type Language, language, languages } from '../../lib/i18n/catalog.ts'
import { common } from '../../lib/i18n/common.ts'
import { useQuery } from '../../lib/navigation/query.ts'
import { session } from '../../lib/session/session.ts'
import { hasMerchantAccount } from '../../lib/session/staff-shops.ts'
import { SelectField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Page, ResourceView, Section } from '../../ui/page.tsx'
import { SecondFactor } from './factor.tsx'
import { t } from './i18n.ts'
import { PasswordForm } from './password.tsx'
import { Sessions } from './sessions.tsx'

/** Reads the account; operators who work in no shop have no such record. */
async function readMe(signal: AbortSignal): Promise<{ email?: string }> {
  if (!session.value || !hasMerchantAccount(session.value)) return {}
  const { merchant } = await ok(api.GET('/merchant/me', { signal }))
  return merchant
}

/** The person's account: password, second factor, sessions and language. */
export default function Account() {
  const query = useQuery()
  const me = useResource('', readMe)
  const sessions = useResource(String(query.page), (signal) =>
    ok(api.GET('/auth/sessions', { params: { query: { page: query.page, limit: 20 } }, signal })),
  )
  const factor = useResource('', (signal) => ok(api.GET('/auth/totp', { signal })))
  const reloadSecurity = () => Promise.all([factor.reload(), sessions.reload()])
  const email = me.data.value?.email
  return (
    <Page title={t('title')} subtitle={email && <bdi>{email}</bdi>}>
      <PasswordForm email={email} onChanged={sessions.reload} />
      <ResourceView resource={factor}>{(totp) => <SecondFactor totp={totp} onChanged={reloadSecurity} />}</ResourceView>
      <Sessions sessions={sessions} query={query} />
      <LanguageChoice />
    </Page>
  )
}

function LanguageChoice() {
  const selected = useSignal<Language>(language)
  return (
    <Section title={common('language')} hint={t('languageHint')}>
      <Form onSubmit={() => chooseLanguage(selected.value)} label={common('language')}>
        <SelectField bind={selected} label={common('language')} options={Object.entries(languages) as [Language, string][]} />
      </Form>
    </Section>
  )
}
