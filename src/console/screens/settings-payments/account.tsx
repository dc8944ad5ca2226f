import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { api, ifMatch, ok, readVersioned, type Schema, type Versioned } from '../../lib/api/api.ts'
import { useResource } from '../../lib/api/resource.ts'
import { moment } from '../../lib/format/format.ts'
import { processorName } from '../../lib/format/processor-names.ts'
import { common, stateName } from '../../lib/i18n/common.ts'
import { notify } from '../../lib/live/toasts.ts'
import { shop, shopPath } from '../../lib/session/current-shop.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { FactList } from '../../ui/fact-list.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Note } from '../../ui/note.tsx'
import { EmptyState, Page, ResourceView, Section } from '../../ui/page.tsx'
import { saveVersioned } from '../../ui/save-versioned.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { accountBody, expectedMode, type Mode } from './account.domain.ts'
import { ConnectionTest } from './connection-test.tsx'
import { fieldName } from './field-name.ts'
import { t } from './i18n.ts'
import { SetupSection } from './setup.tsx'

type Kind = Schema<'ProcessorFields'>
type Account = Schema<'ProcessorAccount'>

type Path = { processor: Kind['processor'] }
const readAccount = (path: Path, mode: Mode, signal?: AbortSignal) =>
  readVersioned<Account>(
    api.GET('/shops/v2/processor-accounts/{processor}', { params: { path, query: { mode } }, ...(signal ? { signal } : {}) }),
  )

/** The shop's own account with a processor, without its secrets. */
export default function ProcessorAccount() {
  const { params } = useRoute()
  const name = params['processor'] ?? ''
  const account = useResource(name, async (signal) => {
    const { data } = await ok(api.GET('/shops/v2/processor-accounts', { signal }))
    const kind = data.find(({ processor }) => processor === name)
    const ownAccounts = await Promise.all((kind?.accounts ?? []).map(({ mode, processor }) => readAccount({ processor }, mode, signal)))
    return { kind, ownAccounts }
  })
  return (
    <Page title={processorName(name)} back={{ href: shopPath('settings', 'payments'), text: common('payments') }}>
      <ResourceView resource={account}>
        {({ kind, ownAccounts }) =>
          kind ? (
            <>
              {ownAccounts.length === 0 && (
                <Section title={t('noAccount')}>
                  <p>{hasInstanceAccount(kind) ? t('byInstance') : t('byNobody')}</p>
                  {hasInstanceAccount(kind) && (
                    <div class="form-actions">
                      <ConnectionTest processor={kind.processor} body={{}} />
                    </div>
                  )}
                </Section>
              )}
              {ownAccounts.map((ownAccount) => (
                <AccountSection key={ownAccount.data.mode} account={ownAccount} kind={kind} onChanged={account.reload} />
              ))}
              <SetupSection kind={kind} />
              <AccountForm kind={kind} ownAccounts={ownAccounts} onSaved={account.reload} />
            </>
          ) : (
            <EmptyState title={common('missing')} text={common('missingText')} />
          )
        }
      </ResourceView>
    </Page>
  )
}

/** Whether the shop's payments can use the administrator's account. */
const hasInstanceAccount = ({ instance }: Kind): boolean => instance[shop.value?.mode ?? 'TEST']
const setFieldsText = ({ set }: Account): string => set.map(fieldName).join(', ')

function AccountSection({
  account: { data, etag },
  kind,
  onChanged,
}: {
  account: Versioned<Account>
  kind: Kind
  onChanged: () => Promise<void>
}) {
  const { processor, mode, set, checkedAt } = data
  async function remove(): Promise<void> {
    const title = t('removeTitle', { name: processorName(processor), mode: t(mode) })
    const text = kind.instance[mode] ? t('removeToInstance') : t('removeToNothing')
    if (!(await confirm({ title, action: t('disconnect'), danger: true, body: <p>{`${text} ${t('removeKept')}`}</p> }))) return
    const path = { processor }
    try {
      const isRemoved = await saveVersioned<true, Account>(etag, {
        save: async (version) => {
          await api.DELETE('/shops/v2/processor-accounts/{processor}', { params: { path, query: { mode }, header: ifMatch(version) } })
          return true
        },
        readCurrent: () => readAccount(path, mode),
        differences: (now) => [
          [t('fields'), setFieldsText(data), setFieldsText(now)],
          [t('checkedAt'), moment(checkedAt), moment(now.checkedAt)],
        ],
        onViewCurrent: () => undefined,
        isDelete: true,
      })
      if (isRemoved) notify(t('removed'))
    } finally {
      await onChanged()
    }
  }
  return (
    <Section
      title={t('ownAccount', { mode: t(mode) })}
      hint={t('checkedHint')}
      actions={<Button kind="danger" onPress={remove} text={t('disconnect')} />}
    >
      <FactList
        facts={[
          [common('mode'), <StatusBadge key="mode" status={mode} />],
          [t('checkedAt'), <Moment key="checkedAt" at={checkedAt} />],
          ...kind.fields.map(({ name }) => [fieldName(name), set.includes(name) ? t('isSet') : t('isNotSet')] as const),
        ]}
      />
      <div class="form-actions">
        <ConnectionTest processor={processor} body={{ mode }} />
      </div>
    </Section>
  )
}

function AccountForm({
  kind,
  ownAccounts,
  onSaved,
}: {
  kind: Kind
  ownAccounts: readonly Versioned<Account>[]
  onSaved: () => Promise<void>
}) {
  const { processor, fields, takesMode } = kind
  const draft = useMemo(
    () => ({ mode: signal<Mode>(shop.value?.mode ?? 'TEST'), values: Object.fromEntries(fields.map(({ name }) => [name, signal('')])) }),
    [],
  )
  const values = Object.fromEntries(fields.map(({ name }) => [name, draft.values[name]?.value ?? '']))
  const isTyped = Object.values(values).some(Boolean)
  async function save(): Promise<void> {
    const body = accountBody(kind, values, draft.mode.value)
    const mode = expectedMode(kind, values, draft.mode.value)
    const stored = ownAccounts.find(({ data }) => data.mode === mode)
    const path = { processor }
    const saved = await saveVersioned(stored?.etag ?? '', {
      save: (version) =>
        readVersioned<Account>(api.PUT('/shops/v2/processor-accounts/{processor}', { params: { path, header: ifMatch(version) }, body })),
      readCurrent: () => readAccount(path, mode ?? draft.mode.value),
      differences: (now) => [
        [t('fields'), Object.keys(body).map(fieldName).join(', '), setFieldsText(now)],
        [t('checkedAt'), '–', moment(now.checkedAt)],
      ],
      onViewCurrent: onSaved,
    })
    if (!saved) return
    for (const value of Object.values(draft.values)) value.value = ''
    await onSaved()
    notify(t('accountSaved'))
  }
  return (
    <Section title={ownAccounts.length === 0 ? t('put') : t('replace')} hint={t('putHint')}>
      <Form
        onSubmit={save}
        dirty={isTyped}
        submit={t('check')}
        actions={<ConnectionTest processor={processor} body={accountBody(kind, values, draft.mode.value)} disabled={!isTyped} />}
        label={t('put')}
      >
        {ownAccounts.length > 0 && <Note>{t('replaceHint')}</Note>}
        <div class="fields">
          {fields.map(({ name, secret, required }) => {
            const bind = draft.values[name]
            return (
              bind && (
                <TextField
                  key={name}
                  bind={bind}
                  label={fieldName(name)}
                  hint={t(secret ? 'secretHint' : name === 'apiUrl' ? 'apiUrlHint' : 'publicHint')}
                  required={required}
                  type={secret ? 'password' : name === 'apiUrl' ? 'url' : 'text'}
                  // Prevents the browser from filling in or storing a password.
                  autoComplete={secret ? 'new-password' : 'off'}
                  max={300}
                  code
                />
              )
            )
          })}
          {takesMode && (
            <SelectField
              bind={draft.mode}
              label={common('mode')}
              hint={t('modeHint')}
              options={[
                ['TEST', stateName('TEST')],
                ['LIVE', stateName('LIVE')],
              ]}
            />
          )}
        </div>
      </Form>
    </Section>
  )
}
